/* The C ABI of Mezzotint's kernels: plain structs, raw pointers, an explicit stream; it knows no torch and no Python.
 *
 * Every argument struct begins with its own size and the ABI version, so that a caller of another version is told so and
 * never misread. No function allocates device memory, synchronizes or uses the default stream: all can be captured in a
 * graph. Functions return a MztStatus; mzt_last_error() then tells, for the calling thread, what happened and what to do.
 */
#ifndef MEZZOTINT_API_H
#define MEZZOTINT_API_H

#include <stdint.h>

#if defined(_WIN32)
#if defined(MZT_BUILDING)
#define MZT_API __declspec(dllexport)
#else
#define MZT_API __declspec(dllimport)
#endif
#else
#define MZT_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MZT_ABI_VERSION 1u

typedef enum MztStatus {
    MZT_OK = 0,
    MZT_UNSUPPORTED = 1,      /* well formed, but no kernel for it here: use another implementation */
    MZT_INVALID_ARGUMENT = 2, /* a caller's mistake: the message names the argument and its value */
    MZT_ABI_MISMATCH = 3,     /* the struct is of another version of this library */
    MZT_NO_DEVICE = 4,        /* no driver, no such device */
    MZT_DRIVER_TOO_OLD = 5,
    MZT_WORKSPACE_TOO_SMALL = 6,
    MZT_LAUNCH_FAILED = 7     /* what CUDA said is in the message */
} MztStatus;

typedef enum MztDtype { MZT_FLOAT16 = 0, MZT_BFLOAT16 = 1, MZT_FLOAT32 = 2 } MztDtype;

enum { /* MztAttentionArgs.flags */
    MZT_CAUSAL = 1u << 0,      /* query i sees keys up to i + nk - nq */
    MZT_INT8_SCORES = 1u << 1, /* the scores' product in int8, K smoothed by its mean */
    MZT_INT8_VALUES = 1u << 3, /* with MZT_INT8_SCORES: q and k rotated, and the product of weights and values in int8,
                                  too; not with key mask, bias, table or dropout */
    MZT_HALF_SUMS = 1u << 4,   /* weights and values in float16, summed in float16 over 64 keys, then in 32 bits; only on
                                  GPUs where that is faster, not with 8 bits or dropout */
    MZT_FP8_VALUES = 1u << 5,  /* like MZT_INT8_VALUES, instead of it, with weights and values in e4m3, summed in float16
                                  over 64 keys; only on GPUs that multiply such numbers */
    MZT_WITHOUT_HOPPER = 1u << 6 /* not the kernels of compute capability 9.0 alone, but those of other GPUs there, too */
};

/* Dropout of the softmax's weights: a weight is kept where its random byte is below `kept`, and is then multiplied by
 * 256 / kept. The bytes are those of Philox4x32-7 with key `seed`, and depend on nothing but a weight's place: the same
 * numbers given to both passes drop the same weights. Head size 64 in float16, without key mask and bias. */
typedef struct MztDropout {
    uint64_t seed, offset; /* a call with batch * heads heads uses 32 * batch * heads counters from `offset` on */
    uint32_t kept;         /* of 256; 0: no dropout */
    uint32_t reserved;     /* 0 */
} MztDropout;

/* Which blocks of 64 keys each block of queries sees, by rows, like a sparse matrix; the others are not computed. Masks,
 * lengths, causality and bias hold in addition. The struct is in host memory, and its arrays are in device memory. */
typedef struct MztBlockTable {
    uint32_t size; /* sizeof(MztBlockTable) */
    uint32_t abi;
    int32_t rows;           /* of one table: (nq + block_q - 1) / block_q */
    int32_t block_q;        /* queries of a row, 64 or 128 */
    int32_t block_k;        /* 64 */
    uint32_t reserved;      /* 0 */
    const int32_t *row_ptr; /* (tables * rows + 1): the entries of row r are those from row_ptr[r] to row_ptr[r + 1] */
    const int32_t *col;     /* (entries): block of keys, ascending in a row; plus MZT_PARTIAL where bits decide */
    const int32_t *tile;    /* (entries): the number of a partial entry's bits; null: no entry is partial */
    const uint64_t *bits;   /* (partial tiles, block_q): bit j of a word says whether its query sees key j of the block */
    int64_t stride_batch, stride_head; /* rows from one batch's or head's table to the next; 0: it is the same */
    const int32_t *order;   /* (tables * rows): the rows of each table, from 0, in the order in which they are begun; best
                               the longest first; null: as they are. Results do not depend on it. */
} MztBlockTable;

enum { MZT_PARTIAL = 1 << 30 };

/* softmax(q k^T * scale + bias) v; strides are in elements, the head dimension's is 1. */
typedef struct MztAttentionArgs {
    uint32_t size; /* sizeof(MztAttentionArgs) */
    uint32_t abi;  /* MZT_ABI_VERSION */
    uint32_t dtype; /* of q, k, v and out: MZT_FLOAT16 or MZT_BFLOAT16 */
    uint32_t flags;
    int64_t batch, heads, kv_heads; /* heads is a multiple of kv_heads */
    int64_t nq, nk, head_dim;
    const void *q, *k, *v; /* (batch, heads or kv_heads, tokens, head_dim) by their strides */
    void *out;             /* like q */
    float *lse;            /* (batch, heads, nq), contiguous, natural logarithm; null: not wanted */
    int64_t q_stride[3], k_stride[3], v_stride[3], out_stride[3]; /* batch, head, token */
    const int32_t *key_lengths; /* (batch): keys from there on are not seen; null: all are */
    const uint8_t *key_mask;    /* (batch, nk): 0 hides a key; null: none is hidden */
    int64_t key_mask_stride;    /* from one batch to the next; 0: the same for all */
    const void *bias;           /* (batch, heads, nq, nk), added to the scaled scores; null: none */
    uint32_t bias_dtype;        /* MZT_FLOAT32 or that of q */
    float scale;
    int64_t bias_stride[4];     /* batch, head, query, key; 0 where it is broadcast */
    void *workspace;            /* device memory of at least the plan's bytes, 16-byte aligned; null where that is 0 */
    int64_t workspace_bytes;
    MztDropout dropout;
    const MztBlockTable *table; /* null: all blocks of keys are seen; not with dropout */
} MztAttentionArgs;

typedef struct MztAttentionPlan {
    uint32_t size; /* sizeof(MztAttentionPlan) */
    uint32_t abi;
    uint32_t supported; /* 0: another implementation must do it, and `text` says why */
    uint32_t kernel;    /* a number that names the instance, stable within a build */
    int64_t workspace_bytes;
    char text[240]; /* the instance's name, or why there is none */
} MztAttentionPlan;

typedef enum MztPreparation { /* what a row becomes before it is rotated and rounded */
    MZT_AS_IT_IS = 0,
    MZT_LAYER_NORM = 1, /* (x - mean) / sqrt(variance + epsilon) */
    MZT_RMS_NORM = 2,   /* x / sqrt(mean of squares + epsilon) */
    MZT_SILU = 3,
    MZT_GELU_TANH = 4,
    MZT_GEGLU = 5       /* a gelu(b), by the error function, for rows [a b] of 2 columns numbers */
} MztPreparation;

/* Rows of 16-bit numbers to int8 with a scale for each: x is prepared, (norms only) multiplied by `norm_weight`, moved
 * by `norm_bias`, then modulated to x (1 + gain) + shift; rotated in groups; divided by its scale, the largest
 * magnitude over 127, and rounded to the nearest, ties to even. A row of zeros has scale 1. All arithmetic in 32-bit. */
typedef struct MztQuantizeArgs {
    uint32_t size; /* sizeof(MztQuantizeArgs) */
    uint32_t abi;
    uint32_t dtype; /* of x and of all that changes it */
    uint32_t preparation;
    int64_t rows, columns; /* of the result; columns is a multiple of 16 */
    const void *x;
    int64_t x_stride; /* elements, a multiple of 8 */
    const void *norm_weight, *norm_bias;       /* (columns); null: 1 and 0 */
    const void *shift, *gain;                  /* (rows / rows_per_batch, columns); null, both: none */
    int64_t rows_per_batch, modulation_stride; /* rows that share a modulation; elements from one to the next */
    float epsilon;
    uint32_t group;   /* 0: no rotation; 4, 16, 64 or 256: the regular Hadamard matrix, which divides columns */
    int8_t *values;   /* (rows, columns) */
    int64_t values_stride; /* bytes, a multiple of 16 */
    float *scales;    /* (rows) */
    uint32_t bits;    /* 8; or 4: two to a byte, the even column low, which halves a row's bytes; columns are then a
                         multiple of 32. Each row's scale is then that of three with the least square error */
    uint32_t scale_columns; /* 0: a scale for each row; 64, for 4 bits and MZT_AS_IT_IS only: for each 64 columns of a
                               row, of which columns is then a multiple, and `scales` is (columns / 64, rows) */
    const float *smooth;    /* (columns), by which x is multiplied before it is rotated, with scales by group only;
                               null: 1 */
    int64_t scales_stride;  /* elements, from one group's scales to the next's */
    uint32_t floats;  /* 1: to floats of 8 bits (e4m3) instead, by a scale of the largest magnitude over 448; values are
                         multiplied by the scale's inverse. Only where mzt_linear multiplies them */
} MztQuantizeArgs;

enum { /* MztLinearPart.flags */
    MZT_PART_NORM = 1u << 0,  /* each head is divided by the root of its mean square plus epsilon, times norm_weight */
    MZT_PART_ROTATE = 1u << 1 /* then each pair of its columns (2i, 2i + 1) is rotated */
};

/* What becomes of a product before its gate and residual. The last two are those of gated linear units: two parts, whose
 * outputs become one. */
typedef enum MztActivation {
    MZT_NO_ACTIVATION = 0,
    MZT_ACTIVATE_GELU_TANH = 1, /* gelu(y), by tanh */
    MZT_GATED_GELU = 2,   /* y of the first part times gelu(y) of the second, by the error function */
    MZT_GATED_SILU = 3    /* y of the first part times silu(y) of the second */
} MztActivation;

/* One of several layers with the same x, such as queries, keys and values. */
typedef struct MztLinearPart {
    const void *weight; /* (out_columns, in), with the stride of all */
    const float *weight_scales; /* (out_columns) */
    const void *bias;           /* (out_columns); null: none */
    const void *norm_weight;    /* (head_dim); null: 1 */
    int64_t out_columns;        /* a multiple of 64; of gated linear units those of out */
    uint32_t flags;
    uint32_t reserved; /* 0 */
} MztLinearPart;

/* out = residual + gate * (x weight' + bias + branch_x branch_up'), where x and weight are integers times scales.
 *
 * Numbers of 4 bits are two to a byte, the even column low, in two's complement. With x of 8 bits a 4-bit weight's are
 * -7 to 7, and 64 columns share a group scale from 1 to 17, so that each is an int8 number times the row's scale; with x
 * of 4 bits both have -8 to 7 and the rows' scales alone. */
typedef struct MztLinearArgs {
    uint32_t size; /* sizeof(MztLinearArgs) */
    uint32_t abi;
    uint32_t dtype;       /* of out, bias, branch, gate and residual */
    uint32_t weight_bits; /* 8 or 4 */
    int64_t rows, in, out_columns; /* in is a multiple of 16, with x of 4 bits of 32, with weights
                                      of 4 and x of 8 of 64; out_columns of 8 */
    const int8_t *x;      /* (rows, in), or half as many bytes */
    int64_t x_stride;     /* bytes, a multiple of 16 */
    const float *x_scales;
    const void *weight;   /* (out_columns, in), or half as many bytes */
    int64_t weight_stride; /* bytes, a multiple of 16 */
    const float *weight_scales; /* (out_columns) */
    const uint8_t *group_scales; /* (out_columns, in / 64), of 4-bit weights with 8-bit x only */
    int64_t group_scales_stride;
    const void *bias;     /* (out_columns); null: none */
    const void *branch_x; /* (rows, rank); null: none */
    const void *branch_up; /* (out_columns, rank) */
    int64_t rank;         /* a multiple of 16, at most 256 */
    int64_t branch_x_stride, branch_up_stride; /* elements, multiples of 8 */
    const void *gate;     /* (rows / rows_per_batch, out_columns); null: none */
    int64_t rows_per_batch, gate_stride;
    const void *residual; /* (rows, out_columns); null: none; may be out itself */
    int64_t residual_stride;
    void *out;            /* (rows, out_columns) */
    int64_t out_stride;   /* elements, a multiple of 8 */
    uint32_t x_bits;      /* 8; or 4 with weights of 4 bits */
    /* With x and weights of 4 bits, scales for each 64 columns of a row, of which in is then a multiple, instead of
     * x_scales and weight_scales. What lies between the rows of x and the next multiple of 4 is read. */
    const float *x_group_scales;     /* (in / 64, rows) */
    const void *weight_group_scales; /* (in / 64, out_columns), float16 */
    int64_t x_group_scales_stride, weight_group_scales_stride; /* elements, multiples of 4 and 8 */
    /* (16), with weights of 4 bits and x of 8, aligned to 16 bytes: each weight is the byte round(codebook[code] * scale),
     * of -127 to 127, and group_scales are 8-bit floats (E4M3), (out_columns, in / 16), at even addresses; null: none */
    const float *codebook;
    uint32_t part_count;  /* 0; or 2 or 3, of weights and x of 8 bits, without branch: then `weight`, `weight_scales` and
                             `bias` are not read, and the columns of out are those of the parts, one after another */
    MztLinearPart parts[3];
    uint32_t head_dim;    /* of parts with flags: 64 or 128, which divides their out_columns */
    float epsilon;
    const float *rotations;  /* (rotation_rows, head_dim / 2, 2): cosine and sine; null: no part is rotated */
    int64_t rotation_rows;   /* row r is rotated by those of row r modulo this */
    uint32_t floats;      /* 1: x and weight, both of 8 bits, are floats (e4m3) instead of integers; sm_89 and sm_120 */
    uint32_t shares_weight_scale; /* 1: weight_scales is one number for all columns; with floats only */
    uint32_t activation;  /* MztActivation; of a product without parts, or of the two of a gated linear unit, which has
                             no gate and no residual */
    uint32_t reserved;    /* 0 */
    /* For sums over parts of the columns of x, where few rows would leave the card idle: 16 kB for each part of 64 x 64 of
     * out. Null or too little: a block sums all columns. Integers are exact: the output is the same. */
    void *workspace;      /* aligned to 16 bytes */
    int64_t workspace_bytes;
    /* Of a convolution of 3 x 3 with a padding of 1: the pixels of each image of x, which is (images, image_height,
     * image_width, in) with a scale for each pixel; out is as many images, rows are all their pixels, and weight is
     * (out_columns, 9 * in), the columns of the nine pixels row by row. Of 8 bits, in a multiple of 64, without branch,
     * parts and activation. 0: no convolution. */
    int64_t image_height, image_width;
    int64_t image_stride; /* 1 or 2: pixels of x from one of out to the next */
} MztLinearArgs;

typedef struct MztDevice {
    uint32_t size;
    uint32_t abi;
    int32_t major, minor; /* compute capability */
    int32_t multiprocessors;
    int32_t shared_bytes; /* that one block may use */
    char name[128];
} MztDevice;

MZT_API uint32_t mzt_abi_version(void);
MZT_API const char *mzt_version(void);       /* of the library, such as 0.1.0 */
MZT_API const char *mzt_architectures(void); /* "sm_75 sm_80 ... compute_120" as compiled in */
MZT_API const char *mzt_last_error(void);    /* of the calling thread; empty when the last call was well */

MZT_API MztStatus mzt_driver(int32_t *version, int32_t *devices); /* 13000 is 13.0; MZT_NO_DEVICE without a driver */
MZT_API MztStatus mzt_device(int32_t ordinal, MztDevice *device);

/* Which kernel would run on that device, and what it needs; never touches the tensors. */
MZT_API MztStatus mzt_attention_plan(const MztAttentionArgs *args, int32_t device, MztAttentionPlan *plan);
/* Queue the attention on a stream of the device that is current. */
MZT_API MztStatus mzt_attention_forward(const MztAttentionArgs *args, int32_t device, void *stream);

/* Queue the quantization, or the product; MZT_UNSUPPORTED, before anything is queued, where no kernel fits. */
MZT_API MztStatus mzt_quantize(const MztQuantizeArgs *args, int32_t device, void *stream);
MZT_API MztStatus mzt_linear(const MztLinearArgs *args, int32_t device, void *stream);

#ifdef __cplusplus
}
#endif

#endif
