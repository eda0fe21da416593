/* Plain calls of convolutions and of their gradients: options, sizes and refusals are read here,
 * conv.c computes. The kernels in Python take all other calls, and word what is refused. */
#include "conv.h"
#include "native.h"

static const int64_t LARGEST = INT32_MAX;

/* The options of a call as Python gives them; NULL: the default. */
typedef struct {
    PyObject *stride, *padding, *dilation, *groups, *output_padding;
} Options;

/* ---- reading ---- */

/* A tensor of a type that has kernels, with elements. */
static GwTensor *operand(PyObject *o) {
    GwTensor *t = gw_plain_tensor(o);
    bool fit = t != NULL && t->numel > 0
               && (t->dtype == GW_FLOAT32 || t->dtype == GW_FLOAT64 || t->dtype == GW_INT64);
    for (int d = 0; fit && d < t->ndim; d++) {
        fit = t->sizes[d] <= LARGEST;
    }
    return fit ? t : NULL;
}

/* Sizes of space, behind ones for the axes that there are not. */
static void read_space(const int64_t *sizes, int ndim, int64_t *space) {
    for (int a = 0; a < AXES; a++) {
        int i = a - (AXES - ndim);
        space[a] = i < 0 ? 1 : sizes[i];
    }
}

static bool read_each(PyObject *o, int ndim, int64_t least, int64_t missing, int64_t *values) {
    for (int a = 0; a < AXES; a++) {
        values[a] = missing;
    }
    return o == NULL || gw_plain_each(o, ndim, least, LARGEST, values + AXES - ndim);
}

/* "valid" or "same", the latter where both sides get the same. */
static bool read_named_padding(Conv *conv, PyObject *name) {
    bool same = PyUnicode_CompareWithASCIIString(name, "same") == 0;
    bool ok = same || PyUnicode_CompareWithASCIIString(name, "valid") == 0;
    for (int a = 0; a < AXES; a++) {
        int64_t total = same ? conv->dilation[a] * (conv->kernel[a] - 1) : 0;
        ok = ok && total % 2 == 0 && (!same || conv->stride[a] == 1);
        conv->pad[a] = total / 2;
    }
    return ok;
}

/* Needs the sizes of the kernel. */
static bool read_options(Conv *conv, int ndim, const Options *o) {
    bool named = PyUnicode_CheckExact(o->padding);
    return gw_plain_int(o->groups, &conv->groups) && conv->groups >= 1 && conv->groups <= LARGEST
           && read_each(o->stride, ndim, 1, 1, conv->stride)
           && read_each(o->dilation, ndim, 1, 1, conv->dilation)
           && (named ? read_named_padding(conv, o->padding)
                     : read_each(o->padding, ndim, 0, 0, conv->pad));
}

/* The channels of weights [outs, ins of a group, ...]. */
static bool read_channels(Conv *conv, const int64_t *weight) {
    conv->ins = weight[1];
    conv->outs = weight[0] / conv->groups;
    return weight[0] % conv->groups == 0 && weight[0] > 0 && weight[1] > 0;
}

static bool count_outputs(Conv *conv) {
    bool ok = true;
    for (int a = 0; a < AXES; a++) {
        int64_t room = conv->in[a] + 2 * conv->pad[a] - conv->dilation[a] * (conv->kernel[a] - 1);
        conv->out[a] = (room - 1) / conv->stride[a] + 1;
        ok = ok && room >= 1;
    }
    return ok;
}

/* The sizes of the input that gives the output, as transposed convolutions have it. */
static bool count_inputs(Conv *conv, int ndim, PyObject *output_padding) {
    int64_t extra[AXES];
    bool ok = read_each(output_padding, ndim, 0, 0, extra);
    for (int a = 0; ok && a < AXES; a++) {
        conv->in[a] = (conv->out[a] - 1) * conv->stride[a] - 2 * conv->pad[a]
                      + conv->dilation[a] * (conv->kernel[a] - 1) + extra[a] + 1;
        ok = conv->in[a] >= 1 && conv->in[a] <= LARGEST
             && (extra[a] < conv->stride[a] || extra[a] < conv->dilation[a]);
    }
    return ok;
}

/* ---- computing ---- */

/* Whether the weight covers the whole input, and the output has one place. */
static bool has_one_place(const Conv *conv) {
    bool covers = conv->groups == 1 && volume_of(conv->out) == 1;
    for (int a = 0; a < AXES; a++) {
        covers = covers && conv->pad[a] == 0 && conv->kernel[a] == conv->in[a]
                 && (conv->dilation[a] == 1 || conv->kernel[a] == 1);
    }
    return covers;
}

static void fill_rows(GwTensor *out, const GwTensor *bias, int64_t rows) {
    size_t nbytes = (size_t)bias->numel * (size_t)gw_itemsize(bias);
    for (int64_t i = 0; i < rows; i++) {
        memcpy(out->data + (size_t)i * nbytes, bias->data, nbytes);
    }
}

/* The same as a product of matrices: inputs [images, places], weights [outs, places]. */
static void multiply(const Conv *conv, enum Part part, GwTensor *out, const GwTensor *bias) {
    gw_ctx ctx;
    gw_context(&ctx);
    int64_t places = conv->ins * volume_of(conv->in), images = conv->images, outs = conv->outs;
    if (bias != NULL) {
        fill_rows(out, bias, images);
    }
    int64_t rows = part == WEIGHT_GRADIENT ? outs : images;
    int64_t columns = part == FORWARD ? outs : places;
    int64_t depth = part == FORWARD ? places : part == INPUT_GRADIENT ? outs : images;
    int flip_a = part == WEIGHT_GRADIENT, flip_b = part == FORWARD;
    bool large = (double)rows * (double)columns * (double)depth > 200e3;
    PyThreadState *released = large ? PyEval_SaveThread() : NULL;
    gw_gemm(&ctx, out->dtype, flip_a, flip_b, rows, columns, depth, 1, conv->a,
            flip_a ? rows : depth, 0, conv->b, flip_b ? depth : columns, 0, bias != NULL,
            out->data, columns, 0, 1);
    if (released != NULL) {
        PyEval_RestoreThread(released);
    }
}

/* The tensor, or a copy in order; a new reference. */
static GwTensor *in_order(PyTypeObject *cls, GwTensor *t) {
    if ((t->flags & GW_CONTIGUOUS) != 0) {
        return (GwTensor *)Py_NewRef(t);
    }
    GwTensor *copy = gw_tensor_empty(cls, t->dtype, t->ndim, t->sizes, NULL);
    if (copy != NULL) {
        gw_copy_elements(t->ndim, t->sizes, gw_itemsize(t), copy->data, copy->strides, t->data,
                         t->strides);
    }
    return copy;
}

static bool compute(Conv *conv, enum Part part, GwTensor *out, const GwTensor *bias) {
    conv->bias = bias == NULL ? NULL : bias->data;
    conv->output = out->data;
    if (out->dtype != GW_INT64 && has_one_place(conv)
        && (bias == NULL || (part == FORWARD && (bias->flags & GW_CONTIGUOUS) != 0))) {
        multiply(conv, part, out, bias);
        return true;
    }
    return gw_conv_run(conv, part, gw_dtypes[out->dtype].descr->type_num);
}

/* A new tensor of these sizes: the part of a convolution whose operands these are. */
static PyObject *result(PyTypeObject *cls, Conv *conv, enum Part part, GwTensor *const *operands,
                        int ndim, const int64_t *sizes) {
    GwTensor *a = in_order(cls, operands[0]), *b = in_order(cls, operands[1]);
    GwTensor *bias = operands[2] == NULL ? NULL : in_order(cls, operands[2]), *out = NULL;
    if (a != NULL && b != NULL && (operands[2] == NULL || bias != NULL)) {
        out = gw_tensor_empty(cls, a->dtype, ndim, sizes, NULL);
    }
    if (out != NULL) {
        conv->a = a->data;
        conv->b = b->data;
        if (!compute(conv, part, out, bias)) {
            Py_CLEAR(out);
        }
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(bias);
    return (PyObject *)out;
}

/* ---- the ops ---- */

/* input, weight and bias of one dtype; false where this is no plain call. */
static bool read_operands(PyObject *const *args, GwTensor **operands) {
    operands[0] = operand(args[0]);
    operands[1] = operand(args[1]);
    operands[2] = args[2] == Py_None ? NULL : operand(args[2]);
    return operands[0] != NULL && operands[1] != NULL && operands[0]->dtype == operands[1]->dtype
           && (args[2] == Py_None
               || (operands[2] != NULL && operands[2]->dtype == operands[0]->dtype));
}

/* A convolution of `ndim` axes; where there is no batch, the result has none either. */
static PyObject *convolved(PyTypeObject *cls, int ndim, bool transposed, bool batch_only,
                           PyObject *const *args, const Options *options) {
    GwTensor *operands[3];
    if (ndim < 1 || ndim > AXES || !read_operands(args, operands)) {
        return NULL;
    }
    const GwTensor *x = operands[0], *weight = operands[1], *bias = operands[2];
    int lead = x->ndim - ndim;      /* 2, or 1 without a batch */
    if (weight->ndim != ndim + 2 || (lead != 2 && (lead != 1 || batch_only))) {
        return NULL;
    }
    Conv conv = {.images = lead == 2 ? x->sizes[0] : 1};
    read_space(weight->sizes + 2, ndim, conv.kernel);
    read_space(x->sizes + lead, ndim, transposed ? conv.out : conv.in);
    if (!read_options(&conv, ndim, options) || !read_channels(&conv, weight->sizes)
        || !(transposed ? count_inputs(&conv, ndim, options->output_padding)
                        : count_outputs(&conv))) {
        return NULL;
    }
    int64_t given = conv.groups * (transposed ? conv.outs : conv.ins);
    int64_t made = conv.groups * (transposed ? conv.ins : conv.outs);
    if (x->sizes[lead - 1] != given || made > LARGEST
        || (bias != NULL && (bias->ndim != 1 || bias->numel != made))) {
        return NULL;
    }
    int64_t sizes[AXES + 2] = {conv.images};
    sizes[lead - 1] = made;
    memcpy(sizes + lead, (transposed ? conv.in : conv.out) + AXES - ndim,
           (size_t)ndim * sizeof *sizes);
    return result(cls, &conv, transposed ? INPUT_GRADIENT : FORWARD, operands, ndim + lead, sizes);
}

static PyObject *forward(PyTypeObject *cls, int ndim, PyObject *const *args) {
    Options options = {args[3], args[4], args[5], args[6], NULL};
    return convolved(cls, ndim, false, false, args, &options);
}

GW_KERNEL(conv1d) { return forward(cls, 1, args); }
GW_KERNEL(conv2d) { return forward(cls, 2, args); }
GW_KERNEL(conv3d) { return forward(cls, 3, args); }

static PyObject *transposed(PyTypeObject *cls, int ndim, PyObject *const *args) {
    Options options = {args[3], args[4], args[7], args[6], args[5]};
    return PyUnicode_CheckExact(args[4]) ? NULL
           : convolved(cls, ndim, true, false, args, &options);
}

GW_KERNEL(conv_transpose1d) { return transposed(cls, 1, args); }
GW_KERNEL(conv_transpose2d) { return transposed(cls, 2, args); }
GW_KERNEL(conv_transpose3d) { return transposed(cls, 3, args); }

GW_KERNEL(convolution) {
    Options options = {args[3], args[4], args[5], args[8], args[7]};
    int ndim = gw_is_tensor(args[0]) ? ((GwTensor *)args[0])->ndim - 2 : 0;
    return convolved(cls, ndim, args[6] == Py_True, true, args, &options);
}

/* A gradient: (grad, other, size, stride, padding, dilation, groups), of which `size` is what the
 * result has; `other` is the weight or the input. */
static PyObject *gradient(PyTypeObject *cls, enum Part part, PyObject *const *args) {
    PyObject *const given[3] = {args[0], args[1], Py_None};
    GwTensor *operands[3];
    int64_t size[GW_MAX_DIMS];
    int rank = read_operands(given, operands) ? gw_plain_sizes(args[2], size) : -1;
    int ndim = rank - 2;
    if (ndim < 1 || ndim > AXES || operands[0]->ndim != rank || operands[1]->ndim != rank) {
        return NULL;
    }
    const int64_t *grad = operands[0]->sizes, *other = operands[1]->sizes;
    const int64_t *weight = part == WEIGHT_GRADIENT ? size : other;
    const int64_t *input = part == WEIGHT_GRADIENT ? other : size;
    Options options = {args[3], args[4], args[5], args[6], NULL};
    Conv conv = {.images = grad[0]};
    read_space(weight + 2, ndim, conv.kernel);
    read_space(input + 2, ndim, conv.in);
    read_space(grad + 2, ndim, conv.out);
    bool fit = read_options(&conv, ndim, &options) && read_channels(&conv, weight)
               && input[0] == grad[0] && grad[1] == weight[0]
               && input[1] == conv.ins * conv.groups;
    for (int d = 0; fit && d < rank; d++) {
        fit = size[d] >= 1 && size[d] <= LARGEST;
    }
    return fit ? result(cls, &conv, part, operands, rank, size) : NULL;
}

GW_KERNEL(conv_input_grad) { return gradient(cls, INPUT_GRADIENT, args); }
GW_KERNEL(conv_weight_grad) { return gradient(cls, WEIGHT_GRADIENT, args); }

const GwKernelEntry gw_conv_kernels[] = {
    {"conv1d", 7, conv1d},
    {"conv2d", 7, conv2d},
    {"conv3d", 7, conv3d},
    {"conv_transpose1d", 8, conv_transpose1d},
    {"conv_transpose2d", 8, conv_transpose2d},
    {"conv_transpose3d", 8, conv_transpose3d},
    {"convolution", 9, convolution},
    {"conv_input_grad", 7, conv_input_grad},
    {"conv_weight_grad", 7, conv_weight_grad},
    {NULL, 0, NULL},
};
