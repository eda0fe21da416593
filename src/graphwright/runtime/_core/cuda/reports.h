/* Indices out of bounds, which kernels report while the program goes on. */
#ifndef GRAPHWRIGHT_CUDA_REPORTS_H
#define GRAPHWRIGHT_CUDA_REPORTS_H

#include "driver.h"

/* A word of host memory that launches in one stream may write to, and what that means. */
typedef struct GwReport GwReport;

/* Makes *place a report that is awaited until its stream was waited for: the one that is there, if
 * it is of this stream and these numbers. *place is NULL once it is not awaited any more. False
 * with an exception. messages: for each place a tuple of its text and of how many of the `count`
 * numbers are its own: the bound, then sizes that the text has. */
bool gw_report_await(GwReport **place, PyObject *messages, const int64_t *numbers, int count,
                     GwCudaStream *stream);
uint64_t gw_report_word(const GwReport *report);    /* its address for kernels */
void gw_report_forget(GwReport **place);            /* which is about to go */

#endif
