#include "wide_products.h"

#include <algorithm>
#include <cstring>

#include "block.h"

namespace mezzotint {
namespace emulator {

namespace {

constexpr int kDepth = 16, kRows = 16, kGroupWarps = 4;

// The fields of a matrix in shared memory, in bytes.
struct Descriptor {
    uint32_t address, beyond, eights, row_bytes;
};

Descriptor decoded(uint64_t bits) {
    const auto field = [&](int first) { return static_cast<uint32_t>(bits >> first & 0x3fff) << 4; };
    const uint64_t layout = bits >> 62;
    return {field(0), field(16), field(32), layout == 1 ? 128u : layout == 2 ? 64u : 0u};
}

bool is_poison(const float* numbers, int count) {
    return std::all_of(numbers, numbers + count, [](float each) {
        uint32_t bits;
        std::memcpy(&bits, &each, 4);
        return bits == ~0u;
    });
}

// A lane's number of a product's 16 rows: which row, and which column.
int row_of(int lane, int number) { return lane / 4 + number / 2 % 2 * 8; }
int column_of(int lane, int number) { return number / 4 * 8 + lane % 4 * 2 + number % 2; }

}  // namespace

void WideProducts::start() { states_.assign(warps_, State{}); }

std::string WideProducts::left_open() const {
    for (int warp = 0; warp < warps_; ++warp) {
        if (!states_[warp].sums.empty()) return "a block has ended, and its products were not waited for";
        if (states_[warp].begun != states_[warp / kGroupWarps * kGroupWarps].begun) {
            return "warps of a group have not begun the same products";
        }
    }
    return "";
}

void WideProducts::begin(int warp, const WideProduct& product) {
    State& state = states_[warp];
    if (!state.fenced) block_.fail("products begin before registers are there for them");
    const int count = product.n / 2;
    Sums& sums = state.sums[product.d[0]];
    if (sums.products++ == 0) {
        for (float* each : product.d) {
            sums.numbers.insert(sums.numbers.end(), each, each + count);
            std::memset(each, 0xff, count * sizeof *each);
        }
    }
    state.open.push_back(product);
    if (!late_reads_) read(warp, state.open.back());
    ++state.begun;
}

void WideProducts::commit(int warp) {
    states_[warp].groups.push_back(std::move(states_[warp].open));
    states_[warp].open.clear();
}

void WideProducts::wait(int warp, int pending) {
    State& state = states_[warp];
    while (static_cast<int>(state.groups.size()) > pending) {
        for (WideProduct& each : state.groups.front()) perform(warp, each);
        state.groups.erase(state.groups.begin());
    }
    state.fenced = false;
}

float WideProducts::shared_number(uint32_t address, uint32_t row_bytes, Decode decode) {
    uint16_t bits;
    std::memcpy(&bits, block_.shared_at(exchanged(address, row_bytes), 2, 2), 2);
    return decode(bits);
}

void WideProducts::read(int warp, WideProduct& product) {
    product.rows.resize(kRows * kDepth);
    product.columns.resize(product.n * kDepth);
    const Descriptor b = decoded(product.right);
    if (!b.row_bytes) block_.fail("a matrix in shared memory has a layout that is not known here");
    const bool in_registers = product.a[0] != nullptr;
    for (int deep = 0; deep < kDepth; ++deep) {
        for (int column = 0; column < product.n; ++column) {
            const uint32_t along = in_registers ? column : deep, across = in_registers ? deep : column;
            const uint32_t whole = b.row_bytes / 2;  // rows go on `beyond`, where they lie along n
            const uint32_t place = along / whole * b.beyond + along % whole * 2;
            const uint32_t address = b.address + place + across / 8 * b.eights + across % 8 * b.row_bytes;
            product.columns[column * kDepth + deep] = shared_number(address, b.row_bytes, product.decode);
        }
    }
    const Descriptor a = decoded(product.left);
    for (int row = 0; row < kRows && !in_registers; ++row) {
        const int below = warp % kGroupWarps * kRows + row;  // of the group's 64
        const uint32_t first = a.address + below / 8 * a.eights + below % 8 * a.row_bytes;
        for (int deep = 0; deep < kDepth; ++deep) {
            product.rows[row * kDepth + deep] = shared_number(first + deep * 2, a.row_bytes, product.decode);
        }
    }
    for (int lane = 0; lane < kLanes && in_registers; ++lane) {
        for (int each = 0; each < 8; ++each) {
            const uint32_t word = product.a[lane][each / 2];
            const int row = lane / 4 + each / 2 % 2 * 8, deep = each / 4 * 8 + lane % 4 * 2 + each % 2;
            product.rows[row * kDepth + deep] = product.decode(static_cast<uint16_t>(word >> (16 * (each % 2))));
        }
    }
}

void WideProducts::perform(int warp, WideProduct& product) {
    if (late_reads_) read(warp, product);
    const auto found = states_[warp].sums.find(product.d[0]);
    Sums& sums = found->second;
    const int count = product.n / 2;
    for (int lane = 0; lane < kLanes; ++lane) {
        for (int number = 0; number < count; ++number) {
            const float* a = &product.rows[row_of(lane, number) * kDepth];
            const float* b = &product.columns[column_of(lane, number) * kDepth];
            float& into = sums.numbers[lane * count + number];
            double sum = product.add ? into : 0;
            for (int deep = 0; deep < kDepth; ++deep) sum += static_cast<double>(a[deep]) * b[deep];
            into = static_cast<float>(sum);
        }
    }
    ++block_.counts.products;
    if (--sums.products > 0) return;
    for (int lane = 0; lane < kLanes; ++lane) {
        if (!is_poison(product.d[lane], count)) block_.fail("sums were touched while products were added to them");
        std::copy_n(&sums.numbers[lane * count], count, product.d[lane]);
    }
    states_[warp].sums.erase(found);
}

}  // namespace emulator
}  // namespace mezzotint
