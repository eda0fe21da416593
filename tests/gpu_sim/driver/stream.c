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
    bool blocking;              /* waits for the NULL stream and the other way round */
    int priority, polls;
    Operation *head, **tail;
    uint64_t last, done;        /* sequence numbers of what was enqueued, of what has run */
    Stream *next;
};

typedef struct {
    int magic;
    bool timed, recorded;
    Device *device;
    Point point;
    int polls;
    atomic_llong time;
} Event;

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static bool busy;               /* a thread runs operations */
static Stream *streams;
static uint64_t random_state;

Operation *fake_operation(int kind, size_t parameter_bytes) {
    Operation *operation = calloc(1, sizeof *operation + parameter_bytes);
    operation->kind = kind;
    operation->parameter_bytes = parameter_bytes;
    return operation;
}

static Stream *make_stream(Device *device, bool blocking, int priority) {
    Stream *stream = calloc(1, sizeof *stream);
    stream->magic = STREAM, stream->device = device;
    stream->blocking = blocking, stream->priority = priority;
    stream->tail = &stream->head;
    pthread_mutex_lock(&fake_lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&fake_lock);
    return stream;
}

Stream *fake_stream(Device *device, void *handle) {
    Stream *stream = handle;
    if ((uintptr_t)handle <= 1) {               /* NULL, CU_STREAM_LEGACY */
        if (!config.legacy) {
            return NULL;
        }
        if (device->legacy == NULL) {
            device->legacy = make_stream(device, false, 0);
        }
        return device->legacy;
    }
    return stream->magic == STREAM && stream->device == device ? stream : NULL;
}

/* ---- running; the lock is held, but while an operation runs ---- */

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fill(const Operation *operation) {
    for (size_t at = 0; at < operation->bytes; at += (size_t)operation->width) {
        memcpy((char *)operation->to + at, &operation->value, (size_t)operation->width);
    }
}

static int perform(const Operation *operation, int device) {
    switch (operation->kind) {
    case COPY: memmove(operation->to, operation->from, operation->bytes); return SUCCESS;
    case FILL: fill(operation); return SUCCESS;
    case KERNEL: return fake_run_kernel(operation, device);
    case RECORD: *operation->time = now(); return SUCCESS;
    case HOST: operation->host(operation->to); return SUCCESS;
    case WAIT: return SUCCESS;
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
    if (seeded != config.seed) {
        seeded = config.seed;
        random_state = (uint64_t)config.seed;
    }
    while (!reached(point)) {
        Stream *stream = point.stream;
        while (stream->head->kind == WAIT && !reached(stream->head->point)) {
            stream = stream->head->point.stream;
        }
        if (config.seed != 0 && next_random() % 2 == 0) {
            Stream *other = any_runnable();
            stream = other != NULL ? other : stream;
        }
        run_head(stream);
    }
}

/* A thread that waits while another's kernel is interpreted gives up Python's lock, as a wait for a
 * device would not keep an interpreter from running. */
static void wait_until_idle(void) {
    static int (*holds)(void);
    static void *(*save)(void);
    static void (*restore)(void *);
    if (holds == NULL) {
        *(void **)&holds = dlsym(RTLD_DEFAULT, "PyGILState_Check");
        *(void **)&save = dlsym(RTLD_DEFAULT, "PyEval_SaveThread");
        *(void **)&restore = dlsym(RTLD_DEFAULT, "PyEval_RestoreThread");
    }
    while (busy) {
        void *state = NULL;
        if (holds != NULL && holds()) {
            pthread_mutex_unlock(&fake_lock);
            state = save();
            pthread_mutex_lock(&fake_lock);
        }
        if (busy) {
            pthread_cond_wait(&idle, &fake_lock);
        }
        if (state != NULL) {
            pthread_mutex_unlock(&fake_lock);
            restore(state);
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

/* ---- enqueueing ---- */

static void append(Stream *stream, Operation *operation) {
    operation->sequence = ++stream->last;
    *stream->tail = operation;
    stream->tail = &operation->next;
}

static void append_wait(Stream *stream, Point point) {
    if (!reached(point)) {
        Operation *wait = fake_operation(WAIT, 0);
        wait->point = point;
        append(stream, wait);
    }
}

/* The NULL stream waits for all blocking ones, and they for it. */
static void append_implicit(Stream *stream) {
    Stream *legacy = stream->device->legacy;
    if (stream == legacy) {
        for (Stream *other = streams; other != NULL; other = other->next) {
            if (other->blocking && other->device == stream->device) {
                append_wait(stream, (Point){other, other->last});
            }
        }
    } else if (stream->blocking && legacy != NULL) {
        append_wait(stream, (Point){legacy, legacy->last});
    }
}

int fake_push(Stream *stream, Operation *operation, bool wait) {
    pthread_mutex_lock(&fake_lock);
    append_implicit(stream);
    append(stream, operation);
    Point point = {stream, stream->last};
    pthread_mutex_unlock(&fake_lock);
    return wait ? drain(point) : SUCCESS;
}

/* ---- streams ---- */

API int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    ENTER_CONTEXT(cuStreamCreateWithPriority);
    if (flags > 1) return INVALID_VALUE;
    *stream = make_stream(device, flags == 0, priority);
    return SUCCESS;
}

API int cuStreamCreate(void **stream, unsigned flags) {
    ENTER_CONTEXT(cuStreamCreate);
    if (flags > 1) return INVALID_VALUE;
    *stream = make_stream(device, flags == 0, 0);
    return SUCCESS;
}

/* What was enqueued still runs. */
API int cuStreamDestroy_v2(void *handle) {
    ENTER_CONTEXT(cuStreamDestroy_v2);
    Stream *stream = fake_stream(device, handle);
    if (stream == NULL || stream == device->legacy) return INVALID_HANDLE;
    stream->magic = DEAD;
    return SUCCESS;
}

API int cuStreamSynchronize(void *handle) {
    ENTER_CONTEXT(cuStreamSynchronize);
    Stream *stream = fake_stream(device, handle);
    return stream == NULL ? INVALID_HANDLE : drain((Point){stream, stream->last});
}

/* Polling: most polls find nothing new, some find that one more operation has run. */
static int poll_point(Point point, int *polls) {
    if (!reached(point) && ++*polls % POLLS == 0) {
        drain((Point){point.stream, point.stream->done + 1});
    }
    return point.stream->device->sticky ? point.stream->device->sticky
        : reached(point) ? SUCCESS : NOT_READY;
}

API int cuStreamQuery(void *handle) {
    ENTER_CONTEXT(cuStreamQuery);
    Stream *stream = fake_stream(device, handle);
    return stream == NULL ? INVALID_HANDLE
        : poll_point((Point){stream, stream->last}, &stream->polls);
}

API int cuStreamGetPriority(void *handle, int *priority) {
    ENTER_CONTEXT(cuStreamGetPriority);
    Stream *stream = fake_stream(device, handle);
    if (stream == NULL) return INVALID_HANDLE;
    *priority = stream->priority;
    return SUCCESS;
}

API int cuLaunchHostFunc(void *handle, void (*function)(void *), void *data) {
    ENTER_CONTEXT(cuLaunchHostFunc);
    Stream *stream = fake_stream(device, handle);
    if (stream == NULL) return INVALID_HANDLE;
    Operation *operation = fake_operation(HOST, 0);
    operation->host = function, operation->to = data;
    return fake_push(stream, operation, false);
}

/* ---- graphs are not modelled ---- */

API int cuStreamIsCapturing(void *handle, int *status) {
    ENTER_CONTEXT(cuStreamIsCapturing);
    if (fake_stream(device, handle) == NULL) return INVALID_HANDLE;
    *status = 0;
    return SUCCESS;
}

#define NO_GRAPHS(call) API int call(void) { ENTER_CONTEXT(call); return NOT_SUPPORTED; }
NO_GRAPHS(cuStreamBeginCapture_v2)
NO_GRAPHS(cuStreamEndCapture)
NO_GRAPHS(cuGraphInstantiateWithFlags)
NO_GRAPHS(cuGraphLaunch)
NO_GRAPHS(cuGraphExecDestroy)
NO_GRAPHS(cuGraphDestroy)

/* ---- events ---- */

static Event *event_of(Device *device, void *handle) {
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
    int error = fake_push(stream, operation, false);
    event->recorded = true;
    event->point = (Point){stream, stream->last};
    return error;
}

API int cuStreamWaitEvent(void *stream_handle, void *handle, unsigned flags) {
    ENTER_CONTEXT(cuStreamWaitEvent);
    Event *event = handle;      /* of any device */
    Stream *stream = fake_stream(device, stream_handle);
    if (event == NULL || event->magic != EVENT || stream == NULL) return INVALID_HANDLE;
    if (flags > 1) return INVALID_VALUE;
    if (event->recorded) {
        pthread_mutex_lock(&fake_lock);
        append_wait(stream, event->point);
        pthread_mutex_unlock(&fake_lock);
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
    return event->recorded ? poll_point(event->point, &event->polls) : SUCCESS;
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

API int cuEventElapsedTime_v2(float *milliseconds, void *start, void *finish) {
    return cuEventElapsedTime(milliseconds, start, finish);
}
