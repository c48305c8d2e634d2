// C entry points of emulated attention: run an instance with the library's arguments on the CPU.
#include <cstring>

#include "../csrc/attention/choose.h"
#include "../csrc/attention/hopper/maps.h"
#include "../csrc/attention/int8/passes.h"
#include "../csrc/attention/int8/workspace.h"
#include "../csrc/attention/splits/splits.h"
#include "run.h"

using namespace mezzotint;

struct EmulatorInstance {
    int32_t head_dim, slice_dim, dtype, masked, kind, tile_m, tile_n, threads, shared_bytes;
};

namespace {

// What the driver would make of a tensor's tiles.
void make_map(TensorMap& map, const Tiles& tiles) { std::memcpy(&map, &tiles, sizeof tiles); }

void run_hopper(const Instance& instance, const MztAttentionArgs& args, const EmulatorConditions& conditions,
                emulator::Machine& machine) {
    HopperParams params = hopper_params(instance, args);
    if (conditions.tiles_per_block > 0) params.forward.tiles_per_block = conditions.tiles_per_block;
    const HopperTiles tiles = tiles_of(instance, args);
    make_map(params.q, tiles.q);
    make_map(params.k, tiles.k);
    make_map(params.v, tiles.v);
    machine.run(instance.entry, blocks_of(instance, args, params.forward.tiles_per_block), instance.threads,
                instance.shared_bytes, &params);
}

// Run what launch_attention() launches; keys are split among as many blocks as the workspace has room for.
void run(const Instance& instance, const MztAttentionArgs& args, const EmulatorConditions& conditions,
         emulator::Machine& machine) {
    if (instance.kind == Kind::hopper) return run_hopper(instance, args, conditions, machine);
    const int splits = planned_splits(instance, args, args.workspace_bytes);
    ForwardParams forward = forward_params(instance, args, splits);
    if (instance.kind == Kind::short_keys && conditions.tiles_per_block > 0) {
        forward.tiles_per_block = conditions.tiles_per_block;
    }
    const void* params = &forward;
    Int8Params int8{};
    if (has_copies(instance.kind)) {
        int8 = int8_params(args);
        int8.forward = forward;
        params = &int8;
        const PassesBefore passes = passes_before(instance);
        const int shared = int8_pass_shared_bytes(int8);
        machine.run(passes.summarize, summarize_blocks(int8), kPassThreads, shared, params);
        machine.run(passes.copy, quantize_blocks(int8), kPassThreads, shared, params);
    }
    machine.run(conditions.turing ? instance.turing_entry : instance.entry,
                blocks_of(instance, args, forward.tiles_per_block) * splits, instance.threads, instance.shared_bytes,
                params);
    if (splits == 1) return;
    const JoinLaunch join = join_launch(forward, instance.dtype);
    machine.run(join.entry, join.blocks, join.threads, 0, params);
}

}  // namespace

extern "C" {

// Return 0 if there is no instance of that number.
MZT_API int32_t emulator_instance(uint32_t number, EmulatorInstance* found) {
    const Instance* instance = instance_of(number);
    if (!instance) return 0;
    *found = {instance->head_dim, instance->slice_dim, instance->dtype,   instance->masked,
              static_cast<int32_t>(instance->kind),
              instance->tile_m,   instance->tile_n,    instance->threads, instance->shared_bytes};
    return 1;
}

MZT_API void emulator_forward(const MztAttentionArgs* args, uint32_t number, const EmulatorConditions* conditions,
                              EmulatorReport* report) {
    emulator::run_kernels(*conditions, *report, [&](emulator::Machine& machine) {
        run(*instance_of(number), *args, *conditions, machine);
    });
}

// Of kernels that make copies, or of those whose keys are split so often.
MZT_API int64_t emulator_workspace_bytes(const MztAttentionArgs* args, int32_t splits) {
    return has_copies(asked_kind(*args)) ? int8_workspace_bytes(*args) : split_bytes(*args, splits);
}

// Return the library's plan for a device with these facts.
MZT_API void emulator_plan(const MztAttentionArgs* args, int32_t architecture, int32_t multiprocessors,
                           int32_t shared_bytes, MztAttentionPlan* plan) {
    plan_attention(*args, {architecture, multiprocessors, shared_bytes}, *plan);
}
}
