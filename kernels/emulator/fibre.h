// One thread of a block: a stack of its own, left and entered at will. Many run in turn on one processor thread.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#if !defined(__x86_64__) || defined(_WIN32)
#include <ucontext.h>
#define MZT_UCONTEXT 1
#endif

namespace mezzotint {
namespace emulator {

class Fibre {
public:
    // Runs `body` from its beginning at the next resume().
    void start(const std::function<void()>& body);
    // Go on with this fibre until it pauses or ends; called from outside of any fibre.
    void resume();
    // Give the processor back to whoever called resume(); called from inside this fibre.
    void pause();
    bool ended() const { return ended_; }

private:
    static constexpr size_t kStackBytes = 128 * 1024;
    static void enter();
    static Fibre* entering_;

    std::vector<char> stack_;
    const std::function<void()>* body_ = nullptr;
    bool ended_ = true;
#ifdef MZT_UCONTEXT
    ucontext_t inside_, outside_;
#else
    void* inside_ = nullptr;
    void* outside_ = nullptr;
#endif
};

}  // namespace emulator
}  // namespace mezzotint
