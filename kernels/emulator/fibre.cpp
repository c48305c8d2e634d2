#include "fibre.h"

#include <cstdint>
#include <cstdlib>

namespace mezzotint {
namespace emulator {

Fibre* Fibre::entering_ = nullptr;

#ifdef MZT_UCONTEXT

void Fibre::start(const std::function<void()>& body) {
    stack_.resize(kStackBytes);
    body_ = &body;
    ended_ = false;
    getcontext(&inside_);
    inside_.uc_stack.ss_sp = stack_.data();
    inside_.uc_stack.ss_size = stack_.size();
    inside_.uc_link = nullptr;
    entering_ = this;
    makecontext(&inside_, &Fibre::enter, 0);
}

void Fibre::resume() {
    entering_ = this;
    swapcontext(&outside_, &inside_);
}

void Fibre::pause() { swapcontext(&inside_, &outside_); }

#else

// void mzt_switch(void** left, void* entered): push the registers that the System V ABI lets a function preserve onto
// the stack being left, and pop them from the one being entered.
extern "C" void mzt_switch(void** left, void* entered);
asm(R"(
.text
.hidden mzt_switch
.globl mzt_switch
.type mzt_switch, @function
mzt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size mzt_switch, .-mzt_switch
)");

void Fibre::start(const std::function<void()>& body) {
    stack_.resize(kStackBytes);
    body_ = &body;
    ended_ = false;
    const uintptr_t top = (reinterpret_cast<uintptr_t>(stack_.data()) + stack_.size()) & ~uintptr_t{15};
    void** frame = reinterpret_cast<void**>(top);
    *--frame = nullptr;                                 // no return address: enter() never returns
    *--frame = reinterpret_cast<void*>(&Fibre::enter);  // where mzt_switch returns to
    for (int kept = 0; kept < 6; ++kept) *--frame = nullptr;
    inside_ = frame;
}

void Fibre::resume() {
    entering_ = this;
    mzt_switch(&outside_, inside_);
}

void Fibre::pause() { mzt_switch(&inside_, outside_); }

#endif

void Fibre::enter() {
    Fibre* self = entering_;
    (*self->body_)();
    self->ended_ = true;
    self->pause();
    std::abort();  // a finished fibre is never resumed
}

}  // namespace emulator
}  // namespace mezzotint
