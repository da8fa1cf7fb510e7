#include "alm/controllers/app/controllers.h"

#include <stddef.h>

const struct controller *const all_controllers[] = {
	&catalog_controller,     &apptype_controller,
	&strategy_controller,    &crdowner_controller,
	&instance_controller,    &instance_chart_controller,
	&instancelog_controller, &bundle_controller,
	&install_controller,     NULL,
};
