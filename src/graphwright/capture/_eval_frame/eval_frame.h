/* What the C files of `_eval_frame` share. */
#ifndef GRAPHWRIGHT_EVAL_FRAME_H
#define GRAPHWRIGHT_EVAL_FRAME_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030E0000 && !defined(Py_GIL_DISABLED) \
    && !defined(PYPY_VERSION)
#define EF_SUPPORTED 1
#else
#define EF_SUPPORTED 0
#endif

extern PyObject *ef_missing;         /* a source found nothing */
extern PyObject *ef_run_natively;    /* a callback's answer */

/* ---- attributes.c: reading attributes without running Python code. Borrowed results, NULL if
 * there is none, never with an exception set. What had to be made is also stored in *owned. ---- */
PyObject *ef_instance_attr(PyObject *obj, PyObject *name);
PyObject *ef_class_attr(PyObject *cls, PyObject *name, PyObject *after);
PyObject *ef_attr(PyObject *obj, PyObject *name, PyObject **owned);
/* Whether attribute access begins with the generic algorithm: no `__getattribute__` of its own. */
bool ef_is_generic(PyTypeObject *tp);

/* ---- constants.c ---- */
bool ef_is_constant(PyObject *value);
/* What a small array of numbers holds, in the order of its indices; a new bytes object. NULL,
 * without an exception, where it is larger, or no array. */
PyObject *ef_contents(PyObject *array);

/* What a weak reference refers to, borrowed; None where that is gone, or about to go: an object
 * whose last reference went waits for its end, with its weak references intact, where others end
 * first. */
static inline PyObject *ef_referent(PyObject *reference) {
    PyObject *object = ((PyWeakReference *)reference)->wr_object;
    return Py_REFCNT(object) > 0 ? object : Py_None;
}
bool ef_same_constant(PyObject *a, PyObject *b);

/* ---- keys.c: dicts by the order of their keys, without hashing or comparing any. A wanted key is
 * a constant; a weak reference to the key itself; a tuple of such; or `ef_missing`, which any key
 * is. ---- */
bool ef_has_keys(PyObject *dict, PyObject *wanted);
bool ef_keys_are_dead(PyObject *wanted);    /* a key that is meant is gone */
/* The key at a position, borrowed, and its value; NULL if there is none. */
PyObject *ef_dict_at(PyObject *dict, int64_t position, PyObject **value);

/* ---- caches.c: what `functools.lru_cache` keeps for a key, borrowed; NULL if nothing. Where a
 * key that is a tuple has `ef_missing`, it means the next of the objects. ---- */
PyObject *ef_cached_result(PyObject *function, PyObject *key, PyObject *const *objects,
                           Py_ssize_t n);
bool ef_reads_caches(void);     /* whether the layout of caches is known */
int ef_caches_init(void);
extern PyMethodDef ef_cache_methods[];

/* ---- shape_program.c: relations between sizes, as a stack program over int64 ---- */
typedef struct EfShapeProgram EfShapeProgram;
EfShapeProgram *ef_shape_program(PyObject *symbols, PyObject *code, Py_ssize_t n_registers);
bool ef_shape_holds(const EfShapeProgram *program, PyObject *const *registers);
PyObject *ef_shape_values(const EfShapeProgram *program, PyObject *const *registers);
void ef_shape_free(EfShapeProgram *program);

/* ---- tensor_check.c: what is asked of tensors ---- */
typedef struct EfTensorSpec EfTensorSpec;
EfTensorSpec *ef_tensor_spec(PyObject *operands);
bool ef_tensor_matches(const EfTensorSpec *spec, PyObject *value);
PyObject *ef_tensor_spec_cls(const EfTensorSpec *spec);
void ef_tensor_spec_free(EfTensorSpec *spec);
/* The size of dimension `place`, or the stride of dimension `place` - GW_MAX_DIMS. */
bool ef_tensor_size(PyObject *value, int64_t place, int64_t *size);
bool ef_overlap_free(PyObject *const *registers, const int32_t *group, int n, int n_mutated);
int ef_need_core(void);      /* -1 with an exception if the tensor core is not there */
int ef_grad_enabled(void);
uint32_t ef_modes(void);

/* Spans of a profile; they cost one comparison while none is active. */
enum EfSpanKind { EF_SPAN_CALL, EF_SPAN_GUARDS };
typedef struct {
    int64_t buffer;
    int32_t index;
} EfSpan;
extern const int *ef_recording;      /* not 0 while a profile is active */
EfSpan ef_span_open(enum EfSpanKind kind, PyObject *name);
void ef_span_close(EfSpan span);

static inline EfSpan ef_span_begin(enum EfSpanKind kind, PyObject *name) {
    return __builtin_expect(*ef_recording != 0, 0) ? ef_span_open(kind, name) : (EfSpan){0, -1};
}

static inline void ef_span_end(EfSpan span) {
    if (__builtin_expect(span.index >= 0, 0)) {
        ef_span_close(span);
    }
}

/* ---- guard_program.c, guard_run.c ---- */
enum EfOp {
    EF_SLOT, EF_GLOBAL, EF_FREE, EF_CONST, EF_MODULE, EF_FUNCTION_GLOBAL, EF_ATTR,
    EF_INSTANCE_ATTR, EF_CLASS_ATTR, EF_MRO_ATTR, EF_ITEM, EF_TYPE, EF_CODE, EF_DEFAULT,
    EF_KWDEFAULT, EF_CLOSURE, EF_SIZE, EF_REGISTRATIONS, EF_CLASS, EF_DICT_KEY, EF_DICT_VALUE,
    EF_LENGTH, EF_COMPUTE, EF_CACHED, EF_REFERENT, EF_CONTEXT, EF_PLAIN, EF_SUBCLASSES,
    EF_NEXT_ITEM, EF_AT_END, EF_CONTENTS, EF_INSTANCE_DICT,
    EF_FIRST_CHECK,
    EF_CHECK_TYPE = EF_FIRST_CHECK, EF_CHECK_IS, EF_CHECK_EQUALS, EF_CHECK_LENGTH, EF_CHECK_KEYS,
    EF_CHECK_MEMBERS, EF_CHECK_MISSING, EF_CHECK_PRESENT, EF_CHECK_NOT_NONE, EF_CHECK_TRUTH,
    EF_CHECK_TENSOR, EF_CHECK_SAME, EF_CHECK_VERSION, EF_CHECK_DISTINCT, EF_CHECK_NO_OVERLAP,
    EF_CHECK_GRAD_MODE, EF_CHECK_MODES, EF_CHECK_RELATION,
    EF_FIELDS,          /* several loads, some of which must find nothing */
    EF_NUM_OPS
};

typedef struct {
    uint8_t op;
    bool weak;          /* obj is a weak reference to the object meant */
    int32_t a;          /* destination of a load; first operand of a check */
    int32_t b;          /* base of a load; second operand of a check */
    int64_t n;          /* index, length, flag; number of mutated tensors; of a class: is generic */
    unsigned int version;   /* of the class, when it was last seen to be generic as `n` says */
    PyObject *obj;      /* name, key, constant; weak reference */
    void *data;         /* EfTensorSpec, EfShapeProgram, EfFields, or int32_t group[b] */
} EfInstruction;

typedef struct {
    PyObject_HEAD
    EfInstruction *code;
    int32_t n_code;
    int32_t n_registers;
    int32_t n_slots;
    int32_t n_inputs;
    int32_t *inputs;
    PyObject *guards;
    PyObject *plain;    /* the same guards one by one, to find which one fails; or NULL */
} EfGuardProgram;

extern PyTypeObject EfGuardProgram_Type;

/* Registers of one evaluation: borrowed values, and those that had to be made. */
typedef struct {
    PyObject **registers;
    PyObject **made;
    int n_made;
} EfRegisters;

/* ---- fields.c ---- */
typedef struct EfFields EfFields;
typedef enum { EF_OF_INSTANCE, EF_OF_DICT, EF_OF_CLASS } EfFieldsKind;
EfFields *ef_fields(PyObject *kind, PyObject *items, int32_t n_registers);
/* false: something is there that must not be. */
bool ef_fields_read(EfFields *fields, PyObject *base, EfRegisters *regs);
void ef_fields_free(EfFields *fields);

/* Index of the first instruction whose check fails, -1 if all hold. */
int ef_guard_run(const EfGuardProgram *program, PyFunctionObject *function,
                 PyObject *const *slots, EfRegisters *regs);
void ef_registers_release(EfRegisters *regs);
/* 1: all hold; 0: one fails; -1 with an exception. Allocates: not for calls that are frequent. */
int ef_guards_hold(EfGuardProgram *program, PyFunctionObject *function, PyObject *const *slots);
bool ef_guard_is_dead(const EfGuardProgram *program);

/* ---- entry.c ---- */
typedef struct {
    PyObject_HEAD
    EfGuardProgram *program;
    PyCodeObject *code;
    PyObject *direct;
    PyObject *select;
    PyObject *locks;                /* tuple, to be held while `code` runs, or NULL */
    PyObject *keepalive;
    PyFunctionObject *made_for;     /* the function that `made` stands in for */
    PyObject *made;                 /* a function of `code`, called with all slots by position */
    int64_t hits;
    int line;
    bool hooked;
} EfEntry;

extern PyTypeObject EfEntry_Type;

/* ---- locks.c ---- */
/* 1: the entry's locks, if it has any, are held and its guards hold; 0: they are not, and Python
 * is to run the call; -1 with an exception. */
int ef_entry_lock(EfEntry *entry, PyFunctionObject *function, PyObject *const *slots);
void ef_entry_unlock(EfEntry *entry);

/* ---- tensorless.c: calls in which there is nothing to capture ---- */
typedef struct EfTensorless EfTensorless;
/* Whether a call with these arguments meets only kinds of values that were noted. */
bool ef_tensorless_call(EfTensorless *seen, PyObject *const *args, Py_ssize_t n);
/* Note the kinds that a call meets. 0: there have been too many; -1 with an exception. */
int ef_tensorless_note(EfTensorless **seen, PyObject *places, PyObject *const *args, Py_ssize_t n);
int ef_tensorless_traverse(EfTensorless *seen, visitproc visit, void *arg);
void ef_tensorless_free(EfTensorless *seen);

/* Entries that one callback made for one code object; most recently hit first. */
typedef struct {
    EfEntry **items;
    EfTensorless *tensorless;   /* calls to run natively without asking, or NULL */
    int32_t n, capacity;
    bool skip;              /* the callback declined: never ask again */
    bool limit_told;
} EfEntryList;

typedef enum { EF_MISS, EF_HIT, EF_NATIVE, EF_ERROR } EfOutcome;

/* The first entry whose guards hold, moved to the front; *result is set for direct entries. The
 * entry is a new reference. A direct call that raised has done nothing: EF_NATIVE, the
 * user's own code raises the error. EF_ERROR where it was no error of the program. */
EfOutcome ef_list_lookup(EfEntryList *list, PyFunctionObject *function, PyObject *const *slots,
                         EfEntry **entry, PyObject **result);
PyObject *ef_take_failure(void);   /* the text of EF_NATIVE's error, or NULL; a new reference */
int ef_list_add(EfEntryList *list, EfEntry *entry);
void ef_list_clear(EfEntryList *list);
int ef_list_traverse(EfEntryList *list, visitproc visit, void *arg);
PyObject *ef_list_tuple(const EfEntryList *list);
int ef_entry_fits(const EfEntry *entry, PyCodeObject *original);   /* -1 with ValueError */
PyObject *ef_entry_function(EfEntry *entry, PyFunctionObject *function);   /* borrowed */
int ef_code_slots(const PyCodeObject *code);

/* ---- capture.c: asking the callback ---- */
bool ef_capturing(void);
void ef_set_capturing(bool value);
/* What the user wants to happen instead of compiling; other stances are the callback's affair. */
enum EfStance { EF_FORCE_EAGER = 1, EF_FAIL_ON_RECOMPILE = 2 };
bool ef_forced_eager(void);
PyObject *ef_set_stance(PyObject *module, PyObject *value);
/* What to do about a miss: a new entry, or NULL to run natively; -1 if the callback raised. */
int ef_capture(EfEntryList *list, PyObject *callback, int limit, PyFunctionObject *function,
               PyObject *const *slots, EfEntry **entry);
/* Call the callback, since a graph failed where the code itself gave a result. Takes the reference
 * to `failure` (or NULL) and hands on `result`; NULL if the callback raised. */
PyObject *ef_tell_failure(PyObject *callback, PyCodeObject *code, PyObject *result,
                          PyObject *failure);

/* ---- interruptions.c: the program's finalizers and signal handlers, kept out of captures ---- */
int ef_interruptions_init(void);        /* -1 with an exception */
int ef_hold_interruptions(void);        /* -1 with an exception: a handler that was due raised */
int ef_release_interruptions(void);     /* the same */
/* Has the RESUME of the frame that begins next raise an exception, whose reference it takes. False,
 * and it is being raised, where that cannot be: in other threads than the main one. */
bool ef_raise_at_resume(PyObject *exception);
bool ef_raised_at_resume(void);         /* the same of what is being raised */
/* Whether an exception came while a graph ran, and is none of its own: from a signal's handler or
 * another thread. -1 with an exception that came meanwhile. */
int ef_came_from_outside(PyObject *exception);

/* ---- observers.c ---- */
/* Whether a debugger, coverage or another tool follows this code: then it runs as it is. */
bool ef_watched(PyCodeObject *code);
bool ef_profiled(void);     /* sys.setprofile is on in this thread */
/* Keep from who watches that a frame ends with a continuation, and that this begins. */
void ef_frame_breaks(void);
void ef_frame_goes_on(void);
void ef_frame_went_on(PyObject *result);
/* Code that calls its first argument with the others, in the guise of another; new reference. */
PyCodeObject *ef_visible_code(PyCodeObject *guise, int line);

/* ---- continuation.c: going on after a graph break ---- */
typedef struct EfContinuation EfContinuation;
extern PyTypeObject EfContinuation_Type;
extern PyMethodDef ef_continuation_methods[];
int ef_add_subscripted(PyObject *module);   /* `continued` and `called` */

/* ---- iterators.c ---- */
/* What the iterator of a range, list, tuple or dict gives next, or an enumeration or zip of such;
 * it goes on to give it. A new reference; NULL, without an exception, at its end and of anything
 * else. */
PyObject *ef_next_item(PyObject *iterator);
/* Whether it gives nothing any more; NULL where that is not known. */
PyObject *ef_at_end(PyObject *iterator);
extern PyMethodDef ef_iterator_methods[];

/* ---- generators.c ---- */

extern PyMethodDef ef_generator_methods[];
/* A call's result; while that is a continuation, its result. Steals, and takes NULL.
 * `handled` is what `ef_handled` gave before the call: the exception being handled, or NULL. */
PyObject *ef_continue(PyObject *result, PyObject *handled);
PyObject *ef_handled(void);
/* Whether a frame of `function` that begins is that of a continuation. Then the frame has the
 * arguments, and nobody else: it returns its own continuation to the loop that began it. */
bool ef_continuation_begins(PyObject *function);

/* ---- binding.c: from a call's arguments to slots ---- */
typedef struct {
    PyObject *varargs, *varkw;      /* made for this call, or NULL */
} EfBound;

/* false: the call does not fit the signature (no exception is set). */
bool ef_bind(PyFunctionObject *function, PyObject *const *args, Py_ssize_t nargs,
             PyObject *kwnames, PyObject **slots, EfBound *bound);
void ef_bound_release(EfBound *bound);

/* ---- dispatcher.c ---- */
extern PyTypeObject EfCompiledFunction_Type;
/* The function that a compiled one was made from, borrowed; NULL for other objects. */
PyFunctionObject *ef_compiled_from(PyObject *value);
void ef_reset_functions(void);

/* ---- stack.c ---- */
char *ef_stack_lowest(void);    /* end of this thread's C stack; NULL where it is unknown */

/* ---- hook.c ---- */
typedef struct {
    PyObject *callback;     /* of this thread before; owned */
    int limit;
    bool installed;
} EfHookState;

int ef_hook_enter(PyObject *callback, int limit, EfHookState *state);   /* NULL: no capture */
void ef_hook_leave(EfHookState *state);
PyObject *ef_hook_suspend(void);             /* the thread's callback, taken away; owned */
void ef_hook_resume(PyObject *callback);     /* steals */
int ef_hook_skip(PyCodeObject *code);
extern PyMethodDef ef_hook_methods[];

#endif
