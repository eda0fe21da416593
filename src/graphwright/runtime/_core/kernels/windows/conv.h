/* What the parts of convolutions share: the description of one, and of how it is computed. */
#ifndef GW_CONV_H
#define GW_CONV_H

#include "core.h"
#include "pool.h"
#include "widths.h"

enum {
    AXES = 3,
    MAX_HEIGHT = 12,
    MAX_PANEL = 32,
    K_BLOCK = 320,               /* taps of all channels summed up at a time */
    WEIGHT_HEIGHT = 8,
    WEIGHT_BLOCK = 256 << 10,   /* bytes of the transposed gradient worked on at a time */
    GATHERING = 5,              /* rows of a tile that cost as much as gathering a panel */
    PACK_BLOCK = 256,            /* taps transposed at a time */
    DOT_TAPS = 8,
    FEW_ROWS = 2,               /* output channels of a group up to which lines are direct, */
    FEW_PARTS = 8,              /* unless there are fewer groups of all images */
    CHUNK = 2 << 20,            /* bytes of planes made at a time */
    BAND_BYTES = 40 << 10,      /* of the lines of one channel that are worked on at a time, */
    BAND_SPARE = 256,           /* elements behind them that may be read and written, */
    TOGETHER_BYTES = 12 << 10,
    MOST_PHASES = 8,
    ROW_BLOCK = 4,              /* lines whose sums are made together, */
    NARROW_LINE = 7,            /* unless they have fewer columns */
    LONGEST_CHAIN = 7,
    MOST_TAPS = 128,            /* and of a kernel that works so */
};

/* The planes of one channel: [phases..., extents...]. */
typedef struct {
    int64_t size[AXES];         /* of what is copied */
    int64_t phases[AXES], extent[AXES];
    int64_t step[AXES];         /* between a plane's elements, in the original */
    int64_t origin[AXES];       /* original coordinate of the first, in phase 0 */
    int64_t stride[AXES], dilation[AXES];
    int64_t plane;              /* elements */
} Layout;

/* One convolution of stride 1 over planes. */
typedef struct {
    int64_t taps, *source, *weight;     /* each tap's offset in a channel's planes and weights */
    int64_t count[AXES];                /* columns */
    int64_t from, from_step[AXES];      /* where column (z, y, x) reads, */
    int64_t to, to_step[AXES];          /* where it writes */
    int64_t *offsets, *weight_offsets;  /* of each channel of a group and each tap */
    void *packed;                       /* the weights as [group][tile][channel, tap][height] */
    int64_t panels_per_slice;           /* where flat */
    bool flat;                          /* panels run over line ends */
} Pass;

/* The columns of one panel; those outside the output belong to no run. */
typedef struct {
    int64_t from[MAX_PANEL], to[MAX_PANEL];
    int run[MAX_PANEL], run_length[MAX_PANEL], runs;                /* written `step` apart */
    int segment[MAX_PANEL], segment_length[MAX_PANEL], segments;    /* read side by side */
    int64_t step;
    bool contiguous;                    /* one segment of full width */
} Columns;

typedef struct {
    gw_body fill_planes, pack_weights, convolve, convolve_directly, transpose_gradient,
        weight_tiles, weight_dots, transpose_weights, convolve_planes, weigh_channels;
    int panel, lanes, size, tallest;
} Kernels;

typedef struct {
    Layout layout;
    const Pass *pass;
    const Kernels *kernels;
    const void *input, *planes, *weights, *bias, *gradient;
    void *copies, *transposed, *output;
    const int64_t *steps;               /* offsets of the rows of a gathered panel */
    int64_t images, groups;
    int64_t depth, rows;                /* channels of a group: of the planes, of the result */
    int64_t weight_group, weight_depth, weight_row;
    int64_t out_plane, padded_rows;
    int64_t height, tiles, blocks, block_tiles;
    int64_t parts, panels;              /* images' groups, or groups; and of each of them */
} Job;

typedef struct {
    int64_t in[AXES], out[AXES], kernel[AXES], stride[AXES], dilation[AXES], pad[AXES];
    int64_t images, groups, ins, outs;      /* channels of a group */
    const Kernels *kernels;
    int type;                               /* NumPy's number of it */
    const void *a, *b, *bias;
    void *output;
} Conv;

/* A pass' taps as chains that read one line below the other. */
typedef struct {
    int64_t count, source[MOST_TAPS], weight[MOST_TAPS];    /* of each chain; of each tap */
    int length[MOST_TAPS];
} Chains;

/* A depthwise convolution, channel by channel and band of lines by band of lines. */
typedef struct {
    Layout layout;                      /* of a band */
    const Pass *pass;
    const Chains *chains;               /* of each pass */
    int passes;
    const void *input, *input_end, *weights, *bias, *gradient, *gradient_end;
    void *output;
    int64_t images, channels, taps, out_plane;
    int64_t grid, band;                 /* lines of all passes, and of them in a band */
    int64_t together;                   /* planes that are worked on at a time */
    int64_t line_start[MOST_PHASES];    /* the first line of each phase, in the original */
    int64_t low[MOST_PHASES], high[MOST_PHASES];    /* the columns of each that exist, */
    int64_t column_start[MOST_PHASES];  /* and the first of these in the original */
} Depthwise;

enum Error { DONE, NO_MEMORY, TOO_LARGE };

/* What is computed of a convolution: see convolve in conv.c. */
enum Part { FORWARD, INPUT_GRADIENT, WEIGHT_GRADIENT, PARTS };

/* Memory of one call; `failed` says what went wrong. */
typedef struct Block {
    struct Block *next;
} Block;
typedef struct {
    Block *blocks;
    enum Error failed;
} Memory;

/* The original coordinate of element `at` in a phase, along an axis. */
static inline int64_t gw_conv_place(const Layout *l, int axis, int64_t phase, int64_t at) {
    int64_t remainder = phase * l->dilation[axis] % l->stride[axis];
    return l->origin[axis] + remainder + at * l->step[axis];
}

static inline int64_t volume_of(const int64_t *sizes) { return sizes[0] * sizes[1] * sizes[2]; }

/* Memory of a call. */
void *gw_conv_take(Memory *memory, int64_t count, int64_t size);
void gw_conv_give_back(Memory *memory);
int64_t gw_conv_times(Memory *memory, int64_t a, int64_t b);

/* Computes a part into `output`, in kernels of a NumPy type; false with MemoryError. Needs the GIL,
 * and the sizes of nothing may be 0. */
bool gw_conv_run(Conv *conv, enum Part part, int type);

/* Planes and passes. */
int64_t gw_conv_phases(const Conv *conv, int axis);
Layout gw_conv_input_layout(Memory *memory, const Conv *conv);
Layout gw_conv_gradient_layout(Memory *memory, const Conv *conv);
void gw_conv_finish_layout(Memory *memory, Layout *l);     /* its plane, from the rest */
int64_t gw_conv_reach(const Conv *conv, int axis);
bool gw_conv_is_identity(const Layout *l);
void gw_conv_input_pass(Memory *memory, const Conv *conv, const Layout *l, Pass *pass);
bool gw_conv_gradient_pass(Memory *memory, const Conv *conv, const Layout *l, const int64_t *phase,
                          Pass *pass);

/* conv.c: the output where no tap reaches: the bias. */
void gw_conv_fill_with_bias(const Conv *conv, int64_t channels, int64_t plane);

/* depthwise.c: convolutions of single channels, in two dimensions at most, whose bands fit. */
bool gw_depthwise_takes(const Conv *conv);
void gw_depthwise_forward(Memory *memory, const gw_ctx *ctx, const Conv *conv);
void gw_depthwise_input_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv);
void gw_depthwise_weight_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv);

/* conv_columns.c: convolutions of few places, or of one tap, as matrix products. */
bool gw_conv_columns_take(const Conv *conv);
void gw_conv_columns_forward(Memory *memory, const gw_ctx *ctx, const Conv *conv);
void gw_conv_columns_input_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv);
void gw_conv_columns_weight_gradient(Memory *memory, const gw_ctx *ctx, const Conv *conv);

#endif
