// Maps of tensors, by which Hopper's hardware copies boxes of them.
#pragma once

#include <stdint.h>

namespace mezzotint {

// A map of a tensor of 4 dimensions as the hardware takes it; for it alone to read.
struct alignas(64) TensorMap {
    uint64_t words[16];
};

// Tiles of a tensor: what a map of it is made of.
struct Tiles {
    const void* first;
    uint64_t sizes[4];    // head_dim, tokens, heads, batch
    uint64_t strides[3];  // of tokens, heads and batch, in bytes
    uint32_t columns, rows;  // of a box
    uint32_t is_bfloat16;
};

static_assert(sizeof(Tiles) <= sizeof(TensorMap), "the emulator's maps are just these");

// How tiles lie in shared memory: rows of 128 or 64 bytes, whose chunks of 16 bytes are exchanged by the row's number.
constexpr uint32_t kWidestRow = 128;

}  // namespace mezzotint
