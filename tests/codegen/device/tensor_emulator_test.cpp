// The emulator's Blackwell against definitions written another way: descriptors bit by bit, where operands lie, what products compute, and
// what the emulator objects to.
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/codegen/emulation.h"
#include "tests/codegen/emulator/descriptors.h"

using namespace heddle;
using emulator::Matrix;
using emulator::Number;
using emulator::Shape;

namespace {

/// As PTX ISA 9.0 lays it out: bf16 into f32, 128 rows, 256 columns.
constexpr std::uint32_t kShape = 1u << 4 | 1u << 7 | 1u << 10 | (256u >> 3) << 17 | (128u >> 4) << 24;
constexpr std::uint64_t descriptor(std::uint32_t address, std::uint32_t leading, std::uint32_t stride = 1024) {
  return std::uint64_t{address >> 4} | std::uint64_t{leading >> 4} << 16 | std::uint64_t{stride >> 4} << 32 | 1ull << 46 | 2ull << 61;
}

/// Where TMA puts the byte `inner` of a row of 128 bytes: 16-byte pieces change places within the row by its number.
std::uint32_t tma_place(std::uint32_t panel, int row, int inner) {
  return panel + static_cast<std::uint32_t>(row * 128 + ((inner / 16) ^ (row % 8)) * 16 + inner % 16);
}

}  // namespace

TEST_CASE("every bit of an instruction descriptor means something or is refused", "[codegen]") {
  const Shape shape = emulator::shape_of(kShape, false, false);
  CHECK(shape.fault.empty());
  CHECK((shape.m == 128 && shape.n == 256 && shape.k == 16 && shape.bytes == 2));
  CHECK((shape.a == Number::Bf16 && shape.b == Number::Bf16));
  const auto same = [](const Shape& a, const Shape& b) {
    return a.m == b.m && a.n == b.n && a.a == b.a && a.b == b.b && a.negate_a == b.negate_a && a.negate_b == b.negate_b &&
           a.a_mn_major == b.a_mn_major && a.b_mn_major == b.b_mn_major;
  };
  for (const bool eight : {false, true})
    for (int bit = 0; bit < 32; ++bit) {
      INFO(bit);
      const Shape changed = emulator::shape_of(kShape ^ 1u << bit, eight, false);
      CHECK((!changed.fault.empty() || !same(changed, emulator::shape_of(kShape, eight, false))));
      // What may change without a fault: negation and majors; both formats are checked below.
      if (!eight) CHECK(changed.fault.empty() == ((bit >= 13 && bit <= 16)));
    }
  CHECK(emulator::shape_of(kShape ^ 1u << 13, false, false).negate_a);
  CHECK(emulator::shape_of(kShape ^ 1u << 14, false, false).negate_b);
  CHECK(emulator::shape_of(kShape ^ 1u << 15, false, false).a_mn_major);
  CHECK(emulator::shape_of(kShape ^ 1u << 16, false, false).b_mn_major);
  CHECK(emulator::shape_of(kShape ^ (1u << 7 | 1u << 10), false, false).a == Number::F16);
  CHECK(emulator::shape_of(kShape, true, false).a == Number::E5m2);
  const Shape mixed = emulator::shape_of(kShape ^ 1u << 10, true, false);
  CHECK((mixed.fault.empty() && mixed.a == Number::E5m2 && mixed.b == Number::E4m3 && mixed.k == 32));
}

TEST_CASE("shapes that tcgen05.mma does not have are refused", "[codegen]") {
  const auto fits = [](unsigned m, unsigned n, bool pair) {
    return emulator::shape_of(1u << 4 | 1u << 7 | 1u << 10 | (n >> 3) << 17 | (m >> 4) << 24, false, pair).fault.empty();
  };
  for (unsigned n = 8; n <= 256; n += 8) {
    CHECK(fits(128, n, false) == (n % 16 == 0));
    CHECK(fits(256, n, true) == (n % 32 == 0));
    CHECK_FALSE((fits(256, n, false) || fits(64, n, false) || fits(128, n, true)));
  }
  CHECK_FALSE(fits(128, 0, false));
  CHECK_FALSE(fits(128, 272, false));
}

TEST_CASE("every bit of a matrix descriptor moves an operand or is refused", "[codegen]") {
  const std::uint64_t bits = descriptor(0x2400, 16384, 2048);
  const Matrix m = emulator::matrix_of(bits);
  CHECK((m.fault.empty() && m.start == 0x2400 && m.leading == 16384 && m.stride == 2048));
  for (int bit = 0; bit < 64; ++bit) {
    INFO(bit);
    const Matrix changed = emulator::matrix_of(bits ^ 1ull << bit);
    const bool address = bit < 14, leading = bit >= 16 && bit < 30, stride = bit >= 32 && bit < 46;
    // Groups of 8 rows begin with the pattern: only multiples of 1024 bytes.
    CHECK(changed.fault.empty() == (address || leading || (stride && bit >= 32 + 6)));
    if (!changed.fault.empty()) continue;
    bool moved = false;
    for (int row = 0; row < 128; ++row)
      for (int k = 0; k < 16; ++k) moved = moved || emulator::place_of(m, row, k, true, 2) != emulator::place_of(changed, row, k, true, 2);
    CHECK(moved);
  }
}

TEST_CASE("a matrix descriptor finds every number where TMA has put it", "[codegen]") {
  for (const int bytes : {1, 2})
    for (const int rows : {32, 128, 256})
      for (const int depth : {64, 128}) {
        const int panel = 128 / bytes, step = 32 / bytes;  // numbers in a row of a panel; of k in a product
        if (depth % panel != 0 && bytes == 1) continue;
        const std::uint32_t base = 0x4000;
        for (int first = 0; first < depth; first += step) {
          // K-major: panels of all rows, side by side in k.
          const std::uint32_t begin = base + static_cast<std::uint32_t>(first / panel * rows * 128);
          const Matrix k_major = emulator::matrix_of(descriptor(begin, 16) + static_cast<std::uint64_t>(first % panel * bytes / 16));
          // The other way round: panels of all k, side by side in rows.
          const std::uint32_t leading = static_cast<std::uint32_t>(depth * 128);
          const Matrix mn_major = emulator::matrix_of(descriptor(base, leading) + static_cast<std::uint64_t>(first * 128 / 16));
          bool found = k_major.fault.empty() && mn_major.fault.empty();
          for (int row = 0; row < rows; ++row)
            for (int k = 0; k < step; ++k) {
              found = found && emulator::place_of(k_major, row, k, false, bytes) == tma_place(begin, row, (first % panel + k) * bytes);
              const std::uint32_t there = base + static_cast<std::uint32_t>(row / panel) * leading;
              found = found && emulator::place_of(mn_major, row, k, true, bytes) == tma_place(there, first + k, row % panel * bytes);
            }
          CHECK(found);
        }
      }
}

TEST_CASE("numbers of 8 and 16 bits have the values of their formats", "[codegen]") {
  using emulator::value_of;
  CHECK(value_of(Number::E4m3, 0x7e) == 448.0f);
  CHECK(value_of(Number::E4m3, 0x01) == std::ldexp(1.0f, -9));
  CHECK(value_of(Number::E4m3, 0xb8) == -1.0f);
  CHECK((std::isnan(value_of(Number::E4m3, 0x7f)) && std::isnan(value_of(Number::E4m3, 0xff))));
  CHECK(value_of(Number::E5m2, 0x7b) == 57344.0f);
  CHECK(value_of(Number::E5m2, 0x01) == std::ldexp(1.0f, -16));
  CHECK((std::isinf(value_of(Number::E5m2, 0x7c)) && std::isnan(value_of(Number::E5m2, 0x7d))));
  CHECK(value_of(Number::F16, 0x7bff) == 65504.0f);
  CHECK(value_of(Number::F16, 0x0001) == std::ldexp(1.0f, -24));
  CHECK(value_of(Number::F16, 0xc100) == -2.5f);
  CHECK(value_of(Number::Bf16, 0x3fc0) == 1.5f);
  CHECK(value_of(Number::Bf16, 0xff80) == -INFINITY);
}

namespace {

/// Blocks of 128 threads whose first warp allocates; the argument says what they do. 4: a wrong result.
constexpr const char* kProgram = R"(
using emulator::Number;
std::string what;
bool is(const char* name) { return what == name; }
[[noreturn]] void wrong(const char* why) { std::fprintf(stderr, "wrong: %s\n", why); std::_Exit(4); }
constexpr u32 kSlot = 0, kBarrier = 8, kA = 1024, kB = kA + 128 * 128, kN = 64;
u32 bits_at(int block, bool b, int row, int k) {  // small whole numbers in every format
  const u32 x = static_cast<u32>(row * 7 + k * 5 + block * 3 + (b ? 2 : 0));
  return is("e4m3") ? 0x30 + x % 24 | x % 2 << 7 : is("e5m2") ? 0x38 + x % 12 | x % 2 << 7 : bf16_bits(static_cast<float>(x % 17) - 8.0f);
}
/// Rows of 128 bytes whose pieces change places, by TMA's definition.
void put(u32 base, int row, int inner, u32 bits, int bytes, int block) {
  const u32 place = base + row * 128 + ((inner / 16) ^ (row % 8)) * 16 + inner % 16;
  std::memcpy(memory[block] + place, &bits, bytes);
}
void kernel() {
  const u32 slot = shared_address(shared + kSlot), barrier = shared_address(shared + kBarrier);  // with the block's rank
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const bool pair = is("pair") || is("pair from the second block");
  const bool eight = is("e4m3") || is("e5m2"), mn = is("mn major"), ts = is("from tensor memory");
  const int bytes = eight ? 1 : 2, depth = eight ? 32 : 16, per_block = pair ? kN / 2 : kN;
  if (is("odd columns") && warp == 0) tensor_allocate(slot, 48);
  if (warp == 0) pair ? tensor_allocate_pair(slot, 256) : tensor_allocate(slot, 256);
  if (is("twice") && warp == 0) tensor_allocate(slot, 32);
  if (is("one lane") && threadIdx.x == 32) tensor_allocate(slot, 32);
  if (threadIdx.x == 0) barrier_init(barrier, 1);
  __syncthreads();
  if (pair) cluster_sync();
  const u32 tensor = load_shared<u32>(slot);
  if (tensor == 0) wrong("no base");
  if (threadIdx.x == 0) {
    for (int k = 0; k < depth; ++k) {
      for (int row = 0; row < 128; ++row)
        mn ? put(kA + row / 64 * 2048, k, row % 64 * 2, bits_at(here, false, row, k), 2, here)
           : put(kA, row, k * bytes, bits_at(here, false, row, k), bytes, here);
      for (int row = 0; row < per_block; ++row)
        mn ? put(kB, k, row * 2, bits_at(here, true, row, k), 2, here) : put(kB, row, k * bytes, bits_at(here, true, row, k), bytes, here);
    }
  }
  __syncthreads();
  if (pair) cluster_sync();
  const u32 own = tensor + (u32(warp) << 21);
  if (ts) {
    u32 words[8];
    for (int c = 0; c < 8; ++c) words[c] = bits_at(0, false, threadIdx.x, 2 * c) | bits_at(0, false, threadIdx.x, 2 * c + 1) << 16;
    tensor_store_n8<0>(own + 128, words);
    tensor_await_stores();
    __syncthreads();
  }
  const u32 d = is("product outside") ? tensor + 224 : tensor;
  u32 shape = 1u << 4 | 1u << 7 | 1u << 10 | kN / 8 << 17 | (pair ? 16u : 8u) << 24;
  if (is("e4m3")) shape &= ~(1u << 7 | 1u << 10);
  if (mn) shape |= 3u << 15;
  if (is("negated")) shape |= 1u << 13;
  if (threadIdx.x == 0 && (!pair || here == (is("pair") ? 0 : 1))) {
    for (int twice = 0; twice < 2; ++twice) {  // the second adds
      const u64 a = tensor_matrix(kA, mn ? 2048 : 16), b = tensor_matrix(kB, 16);
      if (ts) tensor_product_ts(d, tensor + 128, b, shape, twice);
      else if (pair) tensor_product_pair(d, a, b, shape, twice);
      else if (eight) tensor_product_f8(d, a, b, shape, twice);
      else tensor_product(d, a, b, shape, twice);
    }
    pair ? tensor_signal_pair(barrier) : tensor_signal(barrier);
    if (is("signal twice")) tensor_signal(barrier), arrive(barrier + 8);
  }
  wait(barrier, 0);
  float r[kN + 8];
  tensor_load_n32<8>(is("other warp's lanes") ? tensor : own, r);
  tensor_load_n32<40>(own + (is("beyond") ? 240 : is("lanes differ") ? lane % 2 * 32 : 32), r);
  if (!is("unawaited")) tensor_await_loads();
  const Number format = is("e4m3") ? Number::E4m3 : is("e5m2") ? Number::E5m2 : Number::Bf16;
  for (int j = 0; j < (int)kN; ++j) {
    double sum = 0;
    for (int k = 0; k < depth; ++k)
      sum += 2.0 * emulator::value_of(format, bits_at(here, false, threadIdx.x, k)) *
             emulator::value_of(format, bits_at(pair ? j / per_block : here, true, j % per_block, k));
    if (is("negated")) sum = -sum;
    if (r[8 + j] != (float)sum) wrong("result");
  }
  if (is("copy")) {
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int row = 0; row < 128; ++row)
        for (int c = 0; c < 8; ++c) put(kA, row, 4 * c, row * 100 + c, 4, here);
      tensor_copy(tensor + 64, tensor_matrix(kA, 16));
    }
    __syncthreads();
    u32 copied[8];
    tensor_load_n8<0>(own + 64, copied);
    tensor_await_loads();
    for (int c = 0; c < 8; ++c)
      if (copied[c] != threadIdx.x * 100 + c) wrong("copy");
  }
  if (is("store and load")) {
    u32 mine[16], theirs[16];
    for (int c = 0; c < 16; ++c) mine[c] = threadIdx.x * 16 + c;
    tensor_store_n16<0>(own + 16, mine);
    tensor_load_n16<0>(own + 16, theirs);
    tensor_await_loads();
    if (theirs[3] == mine[3]) wrong("stored before it waited");
    tensor_await_stores();
    tensor_load_n16<0>(own + 16, theirs);
    tensor_await_loads();
    for (int c = 0; c < 16; ++c)
      if (theirs[c] != mine[c]) wrong("stored");
  }
  if (is("store unawaited")) tensor_store_n8<0>(own, r);
  __syncthreads();
  if (pair) cluster_sync();
  if (is("not freed")) return;
  if (warp == (is("freed by another") ? 1 : 0)) pair ? tensor_free_pair(tensor, 256) : tensor_free(tensor, is("half freed") ? 128 : 256);
  if (is("freed twice") && warp == 0) tensor_free(tensor, 256);
  if (is("after it was freed")) __syncthreads(), tensor_load_n8<0>(own, r);
}
/// A tile to shared memory, from there to another tensor, and then the place is used again.
float original[8][32], copied[8][32];
void copy() {
  const Plan from{original, 4, {32, 8}, {32, 8}, false}, to{copied, 4, {32, 8}, {32, 8}, false};
  const TensorMap from_map{&from}, to_map{&to};
  if (threadIdx.x == 0) barrier_init(kBarrier, 1);
  __syncthreads();
  if (threadIdx.x == 0) arrive_expect(kBarrier, 1024), tma_load(kA, &from_map, 0, 0, kBarrier);
  wait(kBarrier, is("tma without wait") ? 1 : 0);
  if (threadIdx.x != 0) return;
  const bool there = load_shared<float>(kA) == 1.0f;
  if (is("tma without wait") && !there) wrong("not there yet");
  tma_store(&to_map, kA, 0, 0), store_commit();
  if (!is("tma overwritten")) store_wait_read<0>();
  store_word(kA, 7.0f);
  store_wait_all();
  if (copied[0][0] != 1.0f) wrong("overwritten");
}
int main(int, char** argv) {
  if (argv[1] == std::string("late")) ++argv, late_copies = late_products = true;
  for (auto& row : original)
    for (float& x : row) x = 1.0f;
  for (char** word = argv + 1; *word; ++word) what += (what.empty() ? "" : " ") + std::string(*word);
  const int blocks = what.starts_with("pair") ? 2 : 1;
  run_block(0, blocks, 128, blocks, what.starts_with("tma") ? copy : kernel);
}
)";

}  // namespace

TEST_CASE("the emulator's tensor memory computes mmas and objects to wrong uses", "[codegen][.slow]") {
  std::vector<std::string> arguments;
  const std::vector<std::string> right{"plain", "mn major", "from tensor memory", "negated", "e4m3", "e5m2",
                                       "pair",  "copy",     "store and load"};
  const std::map<std::string, std::string> faults{
      {"late tma overwritten", "wrong: overwritten"},
      {"late tma without wait", "wrong: not there yet"},
      {"odd columns", "48 columns cannot be allocated"},
      {"twice", "allocates after it gave up the permit"},
      {"one lane", "deadlock"},
      {"product outside", "columns 480 to 544 of tensor memory are not allocated"},
      {"pair from the second block", "a product for a pair from its second block"},
      {"signal twice", "no barrier lies at 16"},
      {"other warp\\'s lanes", "lane 0 of tensor memory from warp 1 of a warpgroup"},
      {"beyond", "columns 496 to 528 of tensor memory are not allocated"},
      {"lanes differ", "lanes of a warp do not agree on what they do with tensor memory"},
      {"unawaited", "wrong: result"},
      {"store unawaited", "a block ends with loads or stores of tensor memory that nobody waited for"},
      {"not freed", "a block ends with 256 columns of tensor memory"},
      {"freed by another", "another warp gives tensor memory back"},
      {"half freed", "gives back other columns than were allocated"},
      {"freed twice", "gives tensor memory back twice"},
      {"after it was freed", "columns 256 to 264 of tensor memory are not allocated"}};
  for (const std::string& argument : right) arguments.push_back(argument);
  for (const std::string& argument : right) arguments.push_back("late " + argument);
  for (const auto& [argument, fault] : faults) arguments.push_back(argument);
  const auto outcomes = test::run_emulated(kProgram, arguments);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    INFO(arguments[i] << ": " << outcomes[i].complaint);
    if (i < 2 * right.size()) {
      CHECK(outcomes[i].code == 0);
      continue;
    }
    CHECK(outcomes[i].complaint.starts_with(faults.at(arguments[i])));
  }
}
