/* Nodes of the tape. Those that `autograd_record.c` makes keep what they need in C; the attributes of a
 * node show it as the Python objects that tape/node.py works with. */
#ifndef GRAPHWRIGHT_NODE_H
#define GRAPHWRIGHT_NODE_H

#include "core.h"

enum GwKeptKind {
    GW_KEPT_VALUE,      /* an argument that is no tensor, as it is */
    GW_KEPT_TENSOR,     /* a saved tensor */
    GW_KEPT_SPEC,       /* a tensor's metadata */
    GW_KEPT_LIST,       /* as many of the following as `number` says are its items */
};

/* An argument of a recorded op, or an item of a list of tensors. */
typedef struct {
    PyObject *target;       /* where its gradient goes: a node or a leaf; NULL: nowhere */
    PyObject *value;        /* the argument or the saved tensor */
    PyObject *shape, *strides;      /* of metadata */
    int64_t offset;         /* of metadata */
    int64_t version;        /* of a saved tensor's memory */
    int32_t number;         /* the target's output, or the length of a list */
    int16_t device_index;
    int8_t device, dtype;
    uint8_t kind;
    bool is_edge;           /* among the node's edges, even if it leads nowhere */
} GwKept;

/* An output of a recorded op. */
typedef struct {
    PyObject *shape;        /* NULL for what is no tensor */
    PyObject *saved;        /* a detached alias, or NULL */
    int64_t version;
    int16_t device_index;
    int8_t device, dtype;
} GwMade;

typedef struct {
    PyObject_HEAD
    PyObject *hooks, *prehooks, *output_hooks;
    PyObject *op;
    PyObject *edges, *args, *needing, *outputs, *saved_outputs;   /* set by Python, or NULL */
    int64_t sequence;
    GwKept *kept;           /* NULL in nodes that Python made */
    GwMade *made;           /* `only`, or a block */
    GwMade only;
    int count, made_count;
    uint32_t needed;        /* the parameters that need gradients, as bits */
    bool frees;             /* releasing it drops something */
    bool freed;
} GwNode;

extern PyTypeObject GwNode_Type;

/* A node of the class that set_record_classes has named, with `count` empty entries. */
GwNode *gw_node_new(PyObject *op, int count);
/* Its number. Once it has its edges: a view's history may be made anew for them, and comes first. */
void gw_node_number(GwNode *node);
/* Room for its outputs; false with MemoryError. */
bool gw_node_reserve(GwNode *node, int outputs);

/* A list of what `of` gives for each item of an entry that is a list; NULL where one is NULL. */
PyObject *gw_kept_list(const GwKept *kept, PyObject *(*of)(const GwKept *));

/* The entry behind this one and its items. */
static inline const GwKept *gw_kept_next(const GwKept *kept) {
    return kept + 1 + (kept->kind == GW_KEPT_LIST ? kept->number : 0);
}

/* Whether a saved tensor was not changed in place since. */
static inline bool gw_kept_fresh(const GwKept *kept) {
    return ((GwTensor *)kept->value)->storage->version == kept->version;
}

PyObject *gw_kept_spec(const GwKept *kept);     /* a TensorSpec, a new reference */
PyObject *gw_kept_edge(const GwKept *kept);     /* a pair or None, a new reference */

/* Where the gradient of a tensor goes; false with an exception. */
bool gw_keep_edge(GwKept *kept, PyObject *o);
/* Whether a tensor may be saved; false with RuntimeError for those of inference mode. */
bool gw_may_save(const GwTensor *t);

/* The node, whose reference it takes over, with the class of its op's nodes; NULL on error. */
PyObject *gw_node_named(PyObject *node);

bool gw_read_node_classes(PyObject *node, PyObject *saved, PyObject *spec);
extern PyMethodDef gw_node_methods[], gw_gradient_methods[], gw_tape_methods[];

PyObject *gw_tensor_grad_fn(GwTensor *t);       /* new reference, of None where there is none */

#endif
