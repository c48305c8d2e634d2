#include "async_unit.h"

#include <cstring>

#include "../csrc/tensor_map.h"
#include "block.h"

namespace mezzotint {
namespace emulator {

namespace {

constexpr int kAllRegisters = 65536;
constexpr char kPoison = static_cast<char>(0xff);

int box_bytes(const Tiles& tiles) { return static_cast<int>(tiles.columns * tiles.rows * 2); }

// Registers of a thread when a kernel begins: as many as all can have, in eights.
int first_registers(int threads) { return kAllRegisters / threads / 8 * 8; }

}  // namespace

AsyncUnit::AsyncUnit(Block& block, int threads, bool late_copies, bool late_reads)
    : products(block, threads / kLanes, late_reads), block_(block), threads_(threads), late_copies_(late_copies) {}

void AsyncUnit::start() {
    barriers_.clear();
    turns_.clear();
    copies_.clear();
    registers_.assign(threads_ / kLanes, first_registers(threads_));
    products.start();
}

std::string AsyncUnit::left_open() const {
    if (!copies_.empty()) return "a block has ended, and copies are on their way to it";
    for (const auto& [number, turn] : turns_) {
        if (turn.arrived) return "a block has ended, and a turn was given that nobody has waited for";
    }
    return products.left_open();
}

AsyncUnit::Barrier& AsyncUnit::barrier(uint32_t address) {
    const auto found = barriers_.find(address);
    if (found == barriers_.end()) block_.fail("there is no barrier at " + std::to_string(address));
    return found->second;
}

void AsyncUnit::prepare(uint32_t address, uint32_t arrivals) {
    std::memset(block_.shared_at(address, 8, 8), 0, 8);
    barriers_[address] = {arrivals, arrivals, 0, 0, false};
}

void AsyncUnit::publish() {
    for (auto& [address, each] : barriers_) each.is_published = true;
}

// A phase ends when all have arrived and all bytes that were announced.
void AsyncUnit::end_phase(Barrier& barrier) {
    if (barrier.missing < 0) block_.note("more arrive at a barrier than it was prepared for");
    if (barrier.missing > 0 || barrier.bytes > 0) return;
    if (barrier.bytes < 0) block_.note("more bytes arrive at a barrier than were announced");
    barrier.missing = barrier.arrivals;
    ++barrier.phase;
}

void AsyncUnit::arrive(uint32_t address, int64_t announced) {
    Barrier& here = barrier(address);
    here.bytes += announced;
    --here.missing;
    end_phase(here);
    block_.let_others_on();
}

bool AsyncUnit::has_ended(uint32_t address, uint32_t parity) { return barrier(address).phase % 2 != parity; }

AsyncUnit::Turn& AsyncUnit::arrive_at_turn(int number, int threads) {
    if (number < 1 || number > 15) block_.fail("there is no turn " + std::to_string(number));
    Turn& turn = turns_[number];
    if (turn.arrived && turn.threads != threads) block_.fail("a turn is of another number of threads");
    turn.threads = threads;
    if (++turn.arrived == threads) {
        turn.arrived = 0;
        ++turn.round;
    }
    return turn;
}

void AsyncUnit::give_turn(int number, int threads) {
    arrive_at_turn(number, threads);
    block_.let_others_on();
}

void AsyncUnit::wait_turn(int number, int threads) {
    const int64_t round = turns_[number].round;
    Turn& turn = arrive_at_turn(number, threads);
    block_.wait_until([&] { return turn.round > round; });
}

void AsyncUnit::copy(const BoxCopy& copy) {
    if (!barrier(copy.barrier).is_published) block_.fail("a copy is to tell a barrier that was not published");
    const int bytes = box_bytes(*copy.tiles);
    for (const auto& [address, each] : barriers_) {
        if (address + 8 > copy.to && address < copy.to + bytes) block_.fail("a copy goes over a barrier");
    }
    std::memset(block_.shared_at(copy.to, bytes, 128), kPoison, bytes);
    copies_.push_back(copy);
    if (!late_copies_) land_one(static_cast<uint32_t>(copies_.size() - 1));
}

int AsyncUnit::land_one(uint32_t lot) {
    if (copies_.empty()) return 0;
    const size_t which = lot == ~0u ? copies_.size() - 1 : lot % copies_.size();
    const BoxCopy copy = copies_[which];
    copies_.erase(copies_.begin() + static_cast<int64_t>(which));
    land(copy);
    Barrier& told = barriers_[copy.barrier];
    told.bytes -= box_bytes(*copy.tiles);
    end_phase(told);
    return 1;
}

void AsyncUnit::land(const BoxCopy& copy) {
    const Tiles& tiles = *copy.tiles;
    const uint32_t row_bytes = tiles.columns * 2;
    const char* head = static_cast<const char*>(tiles.first) + copy.head * tiles.strides[1] + copy.batch * tiles.strides[2];
    for (uint32_t row = 0; row < tiles.rows; ++row) {
        for (uint32_t column = 0; column < tiles.columns; ++column) {
            const uint64_t from_row = copy.row + row, from_column = copy.column + column;
            uint16_t value = 0;
            if (from_row < tiles.sizes[1] && from_column < tiles.sizes[0]) {
                std::memcpy(&value, head + from_row * tiles.strides[0] + from_column * 2, 2);
            }
            const uint32_t to = exchanged(copy.to + row * row_bytes + column * 2, row_bytes);
            std::memcpy(block_.shared_at(to, 2, 2), &value, 2);
        }
    }
}

void AsyncUnit::keep_registers(int warp, int registers) {
    if (registers > registers_[warp]) block_.fail("registers are given back that a warp does not have");
    registers_[warp] = registers;
}

// Whether a warp could take them; until others have given theirs back it cannot.
bool AsyncUnit::take_registers(int warp, int registers) {
    int taken = 0;
    for (const int each : registers_) taken += each * kLanes;
    if (taken + (registers - registers_[warp]) * kLanes > kAllRegisters) return false;
    registers_[warp] = registers;
    return true;
}

}  // namespace emulator
}  // namespace mezzotint
