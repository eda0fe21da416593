/* Indices out of bounds. A kernel leaves the greatest of
 * ((1023 - site) << 53) + 2^52 + value in its word, so that the first site wins; memory is not
 * touched there. The error is raised at the next synchronisation, after which all goes on. */
#include "reports.h"
#include "blocks.h"

enum { SITES = 1023, SITE_SHIFT = 53 };
static const int64_t MIDDLE = INT64_C(1) << 52;

struct GwReport {
    GwReport *next;             /* of those that are awaited */
    GwReport **place;           /* of the launcher that uses it, or NULL */
    GwPinned *word;
    GwCudaStream *stream;
    PyObject *messages;
    int count;
    int64_t numbers[];
};

static GwReport *awaited;

static volatile int64_t *word_of(const GwReport *report) {
    return (volatile int64_t *)(void *)gw_pinned_data(report->word);
}

uint64_t gw_report_word(const GwReport *report) {
    return (uint64_t)(uintptr_t)gw_pinned_data(report->word);
}

static bool is_like(const GwReport *report, const int64_t *numbers, const GwCudaStream *stream) {
    size_t bytes = (size_t)report->count * sizeof *numbers;
    return report->stream == stream && memcmp(report->numbers, numbers, bytes) == 0;
}

bool gw_report_await(GwReport **place, PyObject *messages, const int64_t *numbers, int count,
                     GwCudaStream *stream) {
    if (*place != NULL && is_like(*place, numbers, stream)) {
        return true;
    }
    size_t bytes = (size_t)count * sizeof *numbers;
    GwReport *report = PyMem_Malloc(sizeof *report + bytes);
    if (report == NULL) {
        PyErr_NoMemory();
        return false;
    }
    report->word = gw_pinned_new(sizeof(int64_t));
    if (report->word == NULL) {
        PyMem_Free(report);
        return false;
    }
    *word_of(report) = 0;
    memcpy(report->numbers, numbers, bytes);
    report->count = count;
    report->messages = Py_NewRef(messages);
    report->stream = stream;
    report->place = place;
    report->next = awaited;
    if (*place != NULL) {
        (*place)->place = NULL;
    }
    awaited = *place = report;
    return true;
}

void gw_report_forget(GwReport **place) {
    (*place)->place = NULL;
    *place = NULL;
}

/* Takes a report out of the list. What the stream has may still write to the word. */
static bool end(GwReport **link, bool is_idle) {
    GwReport *report = *link;
    bool good = is_idle || gw_pinned_use(report->word, report->stream);
    *link = report->next;
    if (report->place != NULL) {
        *report->place = NULL;
    }
    Py_DECREF(report->messages);
    Py_DECREF(report->word);
    PyMem_Free(report);
    return good;
}

/* How many numbers a place has. */
static Py_ssize_t own_numbers(const GwReport *report, Py_ssize_t site) {
    return PyLong_AsSsize_t(PyTuple_GET_ITEM(PyTuple_GET_ITEM(report->messages, site), 1));
}

static void raise(const GwReport *report, int64_t word) {
    Py_ssize_t site = SITES - (Py_ssize_t)(word >> SITE_SHIFT);
    int64_t value = (word & ((INT64_C(1) << SITE_SHIFT) - 1)) - MIDDLE;
    if (site < 0 || site >= PyTuple_GET_SIZE(report->messages)) {
        PyErr_Format(PyExc_RuntimeError, "a compiled graph failed at place %zd", site);
        return;
    }
    const int64_t *numbers = report->numbers;
    for (Py_ssize_t i = 0; i < site; i++) {
        numbers += own_numbers(report, i);
    }
    PyObject *sizes = PyTuple_New(own_numbers(report, site) - 1);
    for (Py_ssize_t i = 0; sizes != NULL && i < PyTuple_GET_SIZE(sizes); i++) {
        PyObject *size = PyLong_FromLongLong(numbers[i + 1]);
        if (size == NULL) {
            Py_CLEAR(sizes);
            break;
        }
        PyTuple_SET_ITEM(sizes, i, size);
    }
    if (sizes != NULL) {
        PyObject *message = PyTuple_GET_ITEM(report->messages, site);
        gw_raise_out_of_range(PyTuple_GET_ITEM(message, 0), sizes, value, numbers[0]);
        Py_DECREF(sizes);
    }
}

bool gw_cuda_reports(const GwCudaStream *stream, int device) {
    for (GwReport **link = &awaited; *link != NULL;) {
        GwReport *report = *link;
        bool is_idle = stream != NULL ? report->stream == stream
                                      : device >= 0 && report->stream->device == device;
        int64_t word = *word_of(report);
        if (word != 0) {
            raise(report, word);
            end(link, is_idle);
            return false;
        }
        if (!is_idle) {
            link = &report->next;
        } else if (!end(link, true)) {
            return false;
        }
    }
    return true;
}
