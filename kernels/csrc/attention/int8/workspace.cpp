#include "workspace.h"

#include "passes.h"

namespace mezzotint {

namespace {

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Allocates consecutive parts of the workspace; without one it only computes the size.
class Pieces {
public:
    explicit Pieces(void* begin) : begin_(static_cast<char*>(begin)) {}
    template <typename T>
    T* take(int64_t count) {
        char* piece = begin_ ? begin_ + used_ : nullptr;
        used_ += round_up(count * static_cast<int64_t>(sizeof(T)), 256);
        return reinterpret_cast<T*>(piece);
    }
    int64_t used() const { return used_; }

private:
    char* begin_;
    int64_t used_ = 0;
};

Int8Params place(const MztAttentionArgs& args, Pieces& pieces) {
    Int8Params params{};
    const bool only_values = args.flags & MZT_HALF_SUMS;
    params.head_dim = static_cast<int32_t>(args.head_dim);
    params.padded_dim = only_values ? 0 : static_cast<int32_t>(round_up(args.head_dim, 32));
    params.kv_heads = static_cast<int32_t>(args.kv_heads);
    params.batch = static_cast<int32_t>(args.batch);
    params.q_rows = only_values ? 0 : static_cast<int32_t>(round_up(args.nq, kQueryRows));
    const int64_t tokens = args.nk > 0 ? args.nk : 1;  // scales exist even without keys
    params.k_rows = static_cast<int32_t>(round_up(tokens, kKeyRows));
    params.chunks = static_cast<int32_t>(round_up(tokens, kSummedRows) / kSummedRows);
    const int64_t queries = args.batch * args.heads, keys = args.batch * args.kv_heads;
    // More blocks than a grid allows: it is not launched, and what follows might overflow 64 bits.
    if (keys * params.chunks > INT32_MAX) return params;
    params.q = pieces.take<int8_t>(queries * params.q_rows * params.padded_dim);
    params.k = pieces.take<int8_t>(keys * params.k_rows * params.padded_dim);
    const int value_bytes = args.flags & (MZT_INT8_VALUES | MZT_FP8_VALUES) ? 1 : 2;
    params.v = pieces.take<int8_t>(keys * params.k_rows * params.head_dim * value_bytes);
    params.q_scale = pieces.take<float>(queries * (params.q_rows / kQueryRows) * 8);
    params.k_scale = pieces.take<float>(only_values ? 0 : keys * (params.k_rows / kKeyRows) * 4);
    params.v_scale = pieces.take<float>(keys * params.head_dim);
    params.q_mean = pieces.take<float>(only_values ? 0 : queries * args.nq);
    params.k_sum = pieces.take<float>(only_values ? 0 : keys * params.chunks * params.head_dim);
    params.v_largest = pieces.take<float>(keys * params.chunks * params.head_dim);
    return params;
}

}  // namespace

int64_t int8_workspace_bytes(const MztAttentionArgs& args) {
    Pieces pieces(nullptr);
    place(args, pieces);
    return pieces.used();
}

Int8Params int8_params(const MztAttentionArgs& args) {
    Pieces pieces(args.workspace);
    return place(args, pieces);
}

int64_t summarize_blocks(const Int8Params& params) {
    return static_cast<int64_t>(params.batch) * params.kv_heads * params.chunks;
}

int64_t quantize_blocks(const Int8Params& params) {
    const int64_t queries = static_cast<int64_t>(params.batch) * params.forward.heads * ((params.q_rows + 63) / 64);
    return queries + static_cast<int64_t>(params.batch) * params.kv_heads * (params.k_rows / kKeyRows);
}

int int8_pass_shared_bytes(const Int8Params& params) {
    const int down = kPassThreads / (params.head_dim / 8);  // rows that a block sums at once
    const int lines = down > 1 ? down : 1;
    return 2 * lines * params.head_dim * static_cast<int>(sizeof(float));
}

}  // namespace mezzotint
