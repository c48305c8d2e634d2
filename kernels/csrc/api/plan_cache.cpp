#include "plan_cache.h"

#include <cstring>
#include <mutex>

namespace mezzotint {

namespace {

constexpr int kSlots = 256;              // a model makes a few tens of kinds of calls
constexpr uintptr_t kLowBits = 128 - 1;  // covers the alignment that any kernel may require
constexpr int kWords = sizeof(PlanKey) / sizeof(uint64_t);

static_assert(sizeof(PlanKey) % sizeof(uint64_t) == 0, "hashed by words");

struct Slot {
    bool used;
    PlanKey key;
    MztAttentionPlan plan;
};

Slot slots[kSlots];
std::mutex access;

template <class T>
void keep_low_bits(T*& pointer) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    if (address) pointer = reinterpret_cast<T*>((address & kLowBits) | (kLowBits + 1));
}

// Return the slot in which a key's plan would be.
Slot& slot_of(const PlanKey& key) {
    uint64_t words[kWords], state = 0;
    std::memcpy(words, &key, sizeof key);
    for (const uint64_t word : words) {
        state = (state ^ word) * 0x9E3779B97F4A7C15u;
        state ^= state >> 32;
    }
    return slots[state % kSlots];
}

bool is_for(const Slot& slot, const PlanKey& key) {
    return slot.used && std::memcmp(&slot.key, &key, sizeof key) == 0;
}

}  // namespace

PlanKey plan_key(const MztAttentionArgs& args, const cuda::Attributes& attributes) {
    PlanKey key;
    std::memset(static_cast<void*>(&key), 0, sizeof key);
    std::memcpy(static_cast<void*>(&key.args), &args, sizeof args);
    key.attributes = attributes;
    keep_low_bits(key.args.q);
    keep_low_bits(key.args.k);
    keep_low_bits(key.args.v);
    keep_low_bits(key.args.out);
    keep_low_bits(key.args.lse);
    keep_low_bits(key.args.key_lengths);
    keep_low_bits(key.args.key_mask);
    keep_low_bits(key.args.bias);
    key.args.workspace = nullptr;  // the plan determines these
    key.args.workspace_bytes = 0;
    key.args.dropout.seed = key.args.dropout.offset = 0;  // no plan depends on these
    key.args.table = nullptr;  // nor on a table's entries
    key.table_queries = args.table ? args.table->block_q : 0;
    return key;
}

bool recall(const PlanKey& key, MztAttentionPlan& plan) {
    const Slot& slot = slot_of(key);
    const std::lock_guard<std::mutex> lock(access);
    if (!is_for(slot, key)) return false;
    plan = slot.plan;
    return true;
}

void remember(const PlanKey& key, const MztAttentionPlan& plan) {
    Slot& slot = slot_of(key);
    const std::lock_guard<std::mutex> lock(access);
    slot = Slot{true, key, plan};
}

}  // namespace mezzotint
