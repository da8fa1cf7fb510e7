/* explain_pipeline: what `alm explain pipeline` prints. */
#ifndef ALM_CLI_KUBE_EXPLAIN_PIPELINE_H
#define ALM_CLI_KUBE_EXPLAIN_PIPELINE_H

void explain_pipeline(void);

#endif
