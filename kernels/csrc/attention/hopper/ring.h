// Stages of shared memory that tiles go through, one after another: full when all bytes have come, empty when every warp
// has multiplied what was there. Those who copy and those who multiply each count for themselves.
#pragma once

#include "traits.h"

namespace mezzotint {

class Ring {
public:
    // Of `stages` tiles of `bytes` each at `tiles`; two barriers for each.
    MZT_DEVICE Ring(uint32_t tiles, uint32_t bytes, uint32_t barriers, uint32_t stages)
        : tiles_(tiles), bytes_(bytes), barriers_(barriers), stages_(stages) {}

    // By one thread, before all others come here.
    MZT_DEVICE void prepare(uint32_t warps) const {
        for (uint32_t stage = 0; stage < stages_; ++stage) {
            prepare_barrier(barriers_ + 8 * stage, 1);
            prepare_barrier(barriers_ + 8 * (stages_ + stage), warps);
        }
    }

    MZT_DEVICE uint32_t tile() const { return tiles_ + stage_ * bytes_; }
    MZT_DEVICE uint32_t full() const { return barriers_ + 8 * stage_; }
    MZT_DEVICE uint32_t empty() const { return barriers_ + 8 * (stages_ + stage_); }

    MZT_DEVICE void wait_full() const { wait_phase(full(), round_); }
    MZT_DEVICE void wait_next_full() const {
        Ring after = *this;
        after.next();
        after.wait_full();
    }
    MZT_DEVICE void wait_empty() const { wait_phase(empty(), round_ ^ 1); }  // at first all are
    MZT_DEVICE void next() {
        if (++stage_ == stages_) {
            stage_ = 0;
            round_ ^= 1;
        }
    }
    // By all lanes of each warp that multiplied; the next stage is this one's then.
    MZT_DEVICE void release() {
        if (thread_index() % 32 == 0) arrive(empty());
        next();
    }

private:
    uint32_t tiles_, bytes_, barriers_, stages_;
    uint32_t stage_ = 0, round_ = 0;
};

// Those of a block: queries, which are a ring of one, keys and values.
template <class T>
struct Rings {
    Ring queries, keys, values;

    MZT_DEVICE explicit Rings(uint32_t shared)
        : queries(shared, T::q_bytes, shared + T::q_barriers, 1),
          keys(shared + T::k_begin, T::kv_bytes, shared + T::k_barriers, T::stages),
          values(shared + T::v_begin, T::kv_bytes, shared + T::v_barriers, T::stages) {}

    MZT_DEVICE void prepare() const {
        constexpr uint32_t warps = 4 * T::Shape::groups;
        queries.prepare(warps);
        keys.prepare(warps);
        values.prepare(warps);
        publish_barriers();
    }
};

}  // namespace mezzotint
