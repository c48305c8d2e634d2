#include "block.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace mezzotint {
namespace emulator {

namespace {
Block* at_work = nullptr;
constexpr char kPoison = static_cast<char>(0xff);  // NaN in 16 and 32 bits
}  // namespace

Block& Block::current() { return *at_work; }

Block::Block(int threads, int shared_bytes, const Conditions& conditions)
    : units(*this, threads, conditions.late_copies, conditions.late_reads),
      conditions_(conditions), lots_(conditions.seed), meetings_(threads / kLanes), shared_(shared_bytes) {
    for (int index = 0; index < threads; ++index) {
        threads_.push_back(std::make_unique<Thread>());
        threads_.back()->index = index;
    }
}

void Block::run(int64_t index, const std::function<void()>& body) {
    at_work = this;
    index_ = index;
    waiting_ = ended_ = 0;
    failure_.clear();
    units.start();
    std::fill(shared_.begin(), shared_.end(), kPoison);
    std::fill(meetings_.begin(), meetings_.end(), Meeting{});
    for (auto& thread : threads_) {
        thread->copies.clear();
        thread->groups.clear();
        thread->at_barrier = false;
        thread->fibre.start(body);
    }
    const int warps = static_cast<int>(meetings_.size());
    std::vector<int> order(warps);  // of stubborn warps
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), lots_);
    for (int idle = 0; ended_ < static_cast<int>(threads_.size());) {
        const uint64_t before = steps_;
        turn(conditions_.stubborn ? order[idle % warps] : static_cast<int>(lots_() % warps));
        // Copies arrive at any time and in any order; where warps are stubborn, only when none of them can go on, and
        // the first before the last or, of odd seeds, the last before the first.
        const bool arrives = conditions_.stubborn ? idle > warps : idle > 2 * warps || lots_() % 4 == 0;
        if (arrives) steps_ += units.land_one(conditions_.stubborn ? -(conditions_.seed % 2) : lots_());
        if (!failure_.empty()) throw std::runtime_error(failure_);
        idle = steps_ == before ? idle + 1 : 0;
        if (idle > 64 * warps) {
            throw std::runtime_error("deadlock: " + std::to_string(waiting_) + " threads wait at a barrier, " +
                                     std::to_string(ended_) + " of " + std::to_string(threads_.size()) + " have ended");
        }
    }
    const std::string left = units.left_open();
    if (!left.empty()) throw std::runtime_error(left);
}

// Run each lane of a warp that can continue, until it has to wait.
void Block::turn(int warp) {
    for (int lane = 0; lane < kLanes; ++lane) {
        Thread& thread = *threads_[warp * kLanes + lane];
        if (thread.fibre.ended() || thread.at_barrier) continue;
        running_ = &thread;
        thread.fibre.resume();
        if (!failure_.empty()) return;
        if (thread.fibre.ended()) {
            ++ended_;
            ++steps_;
            release_barrier();
        }
    }
}

void Block::barrier() {
    Thread& thread = *running_;
    thread.at_barrier = true;
    ++waiting_;
    ++steps_;
    release_barrier();
    while (thread.at_barrier) thread.fibre.pause();
}

void Block::release_barrier() {
    if (waiting_ == 0 || waiting_ + ended_ < static_cast<int>(threads_.size())) return;
    if (ended_ > 0) {
        failure_ = "some threads wait at a barrier that others passed by";
        return;
    }
    waiting_ = 0;
    for (auto& thread : threads_) thread->at_barrier = false;
}

void Block::meet(const void* purpose, void* mine, void (*act)(Block&, void* const (&)[kLanes])) {
    Thread& thread = *running_;
    Meeting& meeting = meetings_[thread.index / kLanes];
    if (meeting.arrived == 0) meeting.purpose = purpose;
    if (meeting.purpose != purpose) fail("the lanes of a warp are at different instructions");
    meeting.given[thread.index % kLanes] = mine;
    const uint64_t held = meeting.held;
    ++steps_;
    if (++meeting.arrived == kLanes) {
        act(*this, meeting.given);
        meeting.arrived = 0;
        ++meeting.held;
        return;
    }
    while (meeting.held == held) thread.fibre.pause();
}

char* Block::shared_at(uint32_t address, int bytes, int alignment) {
    if (address % alignment != 0) fail("shared address " + std::to_string(address) + " is not aligned");
    if (address + static_cast<uint64_t>(bytes) > shared_.size()) {
        fail("shared address " + std::to_string(address) + " is outside of " + std::to_string(shared_.size()) +
             " bytes");
    }
    return shared_.data() + address;
}

void Block::copy(uint32_t to, const void* from, bool wanted, bool asynchronous, int bytes) {
    if (wanted && reinterpret_cast<uintptr_t>(from) % bytes != 0) fail("a copy from an address that is not aligned");
    char* there = shared_at(to, bytes, bytes);
    const Copy copy{to, wanted ? from : nullptr, bytes};
    if (!asynchronous || !conditions_.late_copies) {
        perform({copy});
        return;
    }
    std::memset(there, kPoison, bytes);
    running_->copies.push_back(copy);
}

void Block::wait_until(const std::function<bool()>& holds) {
    while (!holds()) running_->fibre.pause();
    ++steps_;
}

void Block::let_others_on() {
    ++steps_;
    running_->fibre.pause();
}

void Block::commit_copies() {
    running_->groups.push_back(std::move(running_->copies));
    running_->copies.clear();
}

void Block::wait_copies(int pending) {
    auto& groups = running_->groups;
    while (static_cast<int>(groups.size()) > pending) {
        perform(groups.front());
        groups.erase(groups.begin());
    }
}

void Block::perform(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
        char* there = shared_at(copy.to, copy.bytes, copy.bytes);
        if (copy.from) {
            std::memcpy(there, copy.from, copy.bytes);
        } else {
            std::memset(there, 0, copy.bytes);
        }
    }
}

void Block::fail(const std::string& what) const {
    failure_ = what + " (thread " + std::to_string(running_->index) + " of block " + std::to_string(index_) + ")";
    for (;;) running_->fibre.pause();  // the block is abandoned; the next run restarts its fibres
}

}  // namespace emulator
}  // namespace mezzotint
