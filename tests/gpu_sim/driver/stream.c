/* Streams and events. Nothing that is enqueued runs until something waits for it: then what it
 * depends on runs, and with a seed also what it does not depend on, in a random order. */
#define _GNU_SOURCE
#include "fake.h"

#include <dlfcn.h>
#include <time.h>

enum { STREAM = 0x57EA3, EVENT = 0xE7E27, DEAD = 0xDEAD, POLLS = 4 };

struct Stream {
    int magic;
    Device *device;
    Operation *head, **tail;
    uint64_t last, done;        /* sequence numbers of what was enqueued, of what has run */
    atomic_uint polls;          /* since work was enqueued */
    Stream *next;
};

typedef struct {
    int magic;
    bool timed, recorded;
    Device *device;
    Point point;
    atomic_llong time;
} Event;

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static bool busy;               /* a thread runs operations */
static atomic_int kernels;      /* that are enqueued */
static Stream *streams;
static uint64_t random_state;

Operation *fake_operation(int kind, size_t parameter_bytes) {
    Operation *operation = calloc(1, sizeof *operation + parameter_bytes);
    operation->kind = kind;
    return operation;
}

static Stream *make_stream(Device *device) {
    Stream *stream = calloc(1, sizeof *stream);
    stream->magic = STREAM, stream->device = device;
    stream->tail = &stream->head;
    pthread_mutex_lock(&fake_lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&fake_lock);
    return stream;
}

Stream *fake_stream(Device *device, void *handle) {
    Stream *stream = handle;
    if ((uintptr_t)handle <= 1 && gpusim_config.legacy) {      /* NULL, CU_STREAM_LEGACY */
        device->legacy = device->legacy ? device->legacy : make_stream(device);
        return device->legacy;
    }
    return (uintptr_t)handle > 1 && stream->magic == STREAM && stream->device == device
        ? stream : NULL;
}

/* ---- running; the lock is held, but while an operation runs ---- */

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static int perform(const Operation *operation, int device) {
    switch (operation->kind) {
    case COPY: memmove(operation->to, operation->from, operation->bytes); break;
    case FILL:
        for (size_t at = 0; at < operation->bytes; at += (size_t)operation->width) {
            memcpy((char *)operation->to + at, &operation->value, (size_t)operation->width);
        }
        break;
    case KERNEL: return fake_run_kernel(operation, device);
    case RECORD: *operation->time = now(); break;
    case WAIT: break;
    }
    return SUCCESS;
}

static bool reached(Point point) { return point.stream->done >= point.sequence; }

static void run_head(Stream *stream) {
    Operation *operation = stream->head;
    stream->head = operation->next;
    if (stream->head == NULL) {
        stream->tail = &stream->head;
    }
    if (!stream->device->sticky) {
        pthread_mutex_unlock(&fake_lock);
        int error = perform(operation, stream->device->ordinal);
        pthread_mutex_lock(&fake_lock);
        if (error && !stream->device->sticky) {
            stream->device->sticky = error;
        }
    }
    kernels -= operation->kind == KERNEL;
    stream->done = operation->sequence;
    free(operation);
}

static uint64_t next_random(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

/* Any stream whose next operation could run, or NULL. */
static Stream *any_runnable(void) {
    Stream *found = NULL;
    uint64_t seen = 0;
    for (Stream *stream = streams; stream != NULL; stream = stream->next) {
        const Operation *head = stream->head;
        if (head != NULL && (head->kind != WAIT || reached(head->point))
                && next_random() % ++seen == 0) {
            found = stream;
        }
    }
    return found;
}

/* Run until the stream is at the point; what it waits for comes first. */
static void run_until(Point point) {
    static long seeded;
    if (seeded != gpusim_config.seed) {
        seeded = gpusim_config.seed;
        random_state = (uint64_t)gpusim_config.seed;
    }
    while (!reached(point)) {
        Stream *stream = point.stream;
        while (stream->head->kind == WAIT && !reached(stream->head->point)) {
            stream = stream->head->point.stream;
        }
        if (gpusim_config.seed != 0 && next_random() % 2 == 0) {
            Stream *other = any_runnable();
            stream = other != NULL ? other : stream;
        }
        run_head(stream);
    }
}

/* ---- Python's lock, which interpreting a kernel takes ---- */

static struct {
    int (*holds)(void);
    void *(*save)(void);
    void (*restore)(void *);
} python;

__attribute__((constructor)) static void find_python(void) {
    *(void **)&python.holds = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    *(void **)&python.save = dlsym(RTLD_DEFAULT, "PyEval_SaveThread");
    *(void **)&python.restore = dlsym(RTLD_DEFAULT, "PyEval_RestoreThread");
}

static bool holds_python(void) { return python.holds != NULL && python.holds(); }

/* A thread that waits while another's kernel is interpreted gives up Python's lock, as a wait for a
 * device would not keep an interpreter from running. */
static void wait_until_idle(void) {
    while (busy) {
        void *state = NULL;
        if (holds_python()) {
            pthread_mutex_unlock(&fake_lock);
            state = python.save();
            pthread_mutex_lock(&fake_lock);
        }
        if (busy) {
            pthread_cond_wait(&idle, &fake_lock);
        }
        if (state != NULL) {
            pthread_mutex_unlock(&fake_lock);
            python.restore(state);
            pthread_mutex_lock(&fake_lock);
        }
    }
}

static void begin(void) {
    pthread_mutex_lock(&fake_lock);
    wait_until_idle();
    busy = true;
}

static void end(void) {
    busy = false;
    pthread_cond_broadcast(&idle);
    pthread_mutex_unlock(&fake_lock);
}

static int drain(Point point) {
    begin();
    run_until(point);
    int error = point.stream->device->sticky;
    end();
    return error;
}

int fake_drain_device(Device *device) {
    begin();
    for (Stream *stream = streams; stream != NULL; stream = stream->next) {
        if (stream->device == device) {
            run_until((Point){stream, stream->last});
        }
    }
    int error = device->sticky;
    end();
    return error;
}

static void *advance(void *stream) {
    Point next = {stream, ((Stream *)stream)->done + 1};
    if (next.sequence <= ((Stream *)stream)->last) {
        drain(next);
    }
    return NULL;
}

/* Polling: most polls find nothing new, some find that one more operation has run. A kernel that is
 * interpreted lets other threads run Python, which one that polls and holds its lock does not expect:
 * then a thread of its own runs it. */
static int poll_point(Point point) {
    Stream *stream = point.stream;
    if (!reached(point) && ++stream->polls % POLLS == 0) {
        pthread_t thread;
        if (kernels > 0 && holds_python()) {
            if (pthread_create(&thread, NULL, advance, stream) == 0) {
                pthread_detach(thread);
            }
        } else {
            advance(stream);
        }
    }
    return stream->device->sticky ? stream->device->sticky : reached(point) ? SUCCESS : NOT_READY;
}

/* ---- streams ---- */

Point fake_push(Stream *stream, Operation *operation) {
    pthread_mutex_lock(&fake_lock);
    Point point = {stream, ++stream->last};
    operation->sequence = point.sequence;
    *stream->tail = operation;
    stream->tail = &operation->next;
    stream->polls = 0;
    kernels += operation->kind == KERNEL;
    pthread_mutex_unlock(&fake_lock);
    return point;
}

/* Streams that wait for the NULL stream (flag 0) are not modelled. */
API int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    ENTER_CONTEXT(cuStreamCreateWithPriority);
    (void)priority;
    if (flags != 1) return flags ? INVALID_VALUE : NOT_SUPPORTED;
    *stream = make_stream(device);
    return SUCCESS;
}

API int cuStreamSynchronize(void *handle) {
    ENTER_CONTEXT(cuStreamSynchronize);
    Stream *stream = fake_stream(device, handle);
    return stream == NULL ? INVALID_HANDLE : drain((Point){stream, stream->last});
}

API int cuStreamQuery(void *handle) {
    ENTER_CONTEXT(cuStreamQuery);
    Stream *stream = fake_stream(device, handle);
    return stream == NULL ? INVALID_HANDLE : poll_point((Point){stream, stream->last});
}

/* Captures, as graphs, are not modelled. */
API int cuStreamIsCapturing(void *handle, int *status) {
    ENTER_CONTEXT(cuStreamIsCapturing);
    *status = 0;
    return fake_stream(device, handle) == NULL ? INVALID_HANDLE : SUCCESS;
}

/* ---- events ---- */

static Event *event_of(const Device *device, void *handle) {
    Event *event = handle;
    return event != NULL && event->magic == EVENT && event->device == device ? event : NULL;
}

API int cuEventCreate(void **handle, unsigned flags) {
    ENTER_CONTEXT(cuEventCreate);
    if (flags > 7) return INVALID_VALUE;
    Event *event = calloc(1, sizeof *event);
    event->magic = EVENT, event->device = device;
    event->timed = !(flags & 2);
    *handle = event;
    return SUCCESS;
}

/* Its memory stays, for a record of it may still be enqueued. */
API int cuEventDestroy_v2(void *handle) {
    ENTER_CONTEXT(cuEventDestroy_v2);
    Event *event = event_of(device, handle);
    if (event == NULL) return INVALID_HANDLE;
    event->magic = DEAD;
    return SUCCESS;
}

API int cuEventRecord(void *handle, void *stream_handle) {
    ENTER_CONTEXT(cuEventRecord);
    Event *event = event_of(device, handle);
    Stream *stream = fake_stream(device, stream_handle);
    if (event == NULL || stream == NULL) return INVALID_HANDLE;
    Operation *operation = fake_operation(RECORD, 0);
    operation->time = &event->time;
    event->point = fake_push(stream, operation);
    event->recorded = true;
    return SUCCESS;
}

API int cuStreamWaitEvent(void *stream_handle, void *handle, unsigned flags) {
    ENTER_CONTEXT(cuStreamWaitEvent);
    Event *event = handle;      /* of any device */
    Stream *stream = fake_stream(device, stream_handle);
    if (event == NULL || event->magic != EVENT || stream == NULL) return INVALID_HANDLE;
    if (flags > 1) return INVALID_VALUE;
    if (event->recorded) {
        Operation *operation = fake_operation(WAIT, 0);
        operation->point = event->point;
        fake_push(stream, operation);
    }
    return SUCCESS;
}

API int cuEventSynchronize(void *handle) {
    ENTER_CONTEXT(cuEventSynchronize);
    Event *event = event_of(device, handle);
    if (event == NULL) return INVALID_HANDLE;
    return event->recorded ? drain(event->point) : SUCCESS;
}

API int cuEventQuery(void *handle) {
    ENTER_CONTEXT(cuEventQuery);
    Event *event = event_of(device, handle);
    if (event == NULL) return INVALID_HANDLE;
    return event->recorded ? poll_point(event->point) : SUCCESS;
}

API int cuEventElapsedTime(float *milliseconds, void *start_handle, void *end_handle) {
    ENTER_CONTEXT(cuEventElapsedTime);
    Event *start = event_of(device, start_handle), *finish = event_of(device, end_handle);
    if (start == NULL || finish == NULL || !start->timed || !finish->timed
            || !start->recorded || !finish->recorded) {
        return INVALID_HANDLE;
    }
    if (!reached(start->point) || !reached(finish->point)) return NOT_READY;
    *milliseconds = (float)(finish->time - start->time) / 1e6f;
    return SUCCESS;
}
