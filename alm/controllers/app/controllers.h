/* controllers: the table of all controllers. To add one: alm/engine/controller.h says how. */
#ifndef ALM_CONTROLLERS_APP_CONTROLLERS_H
#define ALM_CONTROLLERS_APP_CONTROLLERS_H

#include "alm/engine/controller.h"

extern const struct controller catalog_controller, apptype_controller, strategy_controller,
	crdowner_controller, instance_controller, instance_chart_controller, instancelog_controller,
	bundle_controller, install_controller;
extern const struct controller *const all_controllers[]; /* NULL-ended */

#endif
