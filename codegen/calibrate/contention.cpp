#include "codegen/calibrate/contention.h"

#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "codegen/device/device.h"
#include "codegen/emit/product.h"
#include "codegen/machine_code/loops.h"
#include "codegen/machine_code/opcode.h"
#include "codegen/machine_code/quarter.h"

namespace heddle::codegen {
namespace {

constexpr int kOperandBytes = 96 * 1024;  ///< of shared memory: A in the first 16 KB, B behind it; then the words of keep_busy()
constexpr int kOperandsShared = kOperandBytes + 1024;

ProductShape shape_of(int width, bool registers) { return {width, registers, false, registers}; }

/// "  const auto shared = [&] { product_n128_ss(d, a, b, 1); };"
std::string product_of(const char* name, int width, bool registers) {
  return fmt::format("  const auto {} = [&] {{ {}(d, {}, b, 1); }};\n", name, product_name(shape_of(width, registers)),
                     registers ? "w[0], w[1], w[2], w[3]" : "a");
}

struct Head {
  std::string experiment, name, about;
  int groups = 1;
  int width = 128;
};

/// A kernel of that many warp groups around `body`. Operands are small numbers, not zeros; each thread has the accumulators d.
ContentionKernel kernel_of(Head head, const std::string& body) {
  ContentionKernel made;
  made.experiment = std::move(head.experiment);
  made.name = std::move(head.name);
  made.about = std::move(head.about);
  made.width = head.width;
  MicroKernel& micro = made.micro;
  micro.rule = made.name;
  micro.launch.entry = kMicroEntry;
  micro.launch.threads = 128 * head.groups;
  micro.launch.smem_bytes = kOperandsShared;
  micro.launch.tiles = 1;
  std::string text;
  for (const bool registers : {false, true})
    if (body.find(product_name(shape_of(head.width, registers)) + "(") != std::string::npos)
      text += product_text(shape_of(head.width, registers));
  text += fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 1)\n{}(u64* out) {{\n", micro.launch.threads, kMicroEntry);
  text += fmt::format(
      "  extern __shared__ __align__(1024) unsigned char shared[];\n"
      "  const u32 smem = shared_address(shared);\n"
      "  volatile u32* const stop = (volatile u32*)(shared + {});\n"
      "  (void)stop;\n"
      "  for (int i = threadIdx.x; i < {}; i += {}) store_word(smem + 4 * i, 0x3c003c00u + (u32)(i * 2654435761u >> 20));\n"
      "  fence_async();\n  __syncthreads();\n"
      "  const u64 a = matrix(smem, 16), b = matrix(smem + 16384, 16384);\n  (void)a, (void)b;\n",
      kOperandBytes, kOperandBytes / 4, micro.launch.threads);
  text += fmt::format(
      "  float d[{0}];\n#pragma unroll\n  for (int i = 0; i < {0}; ++i) d[i] = 0.001f * (float)(threadIdx.x + i);\n"
      "  u32 w[4];\n#pragma unroll\n  for (int i = 0; i < 4; ++i) w[i] = 0x3c003c00u + threadIdx.x + i;\n  keep(w);\n",
      head.width / 2);
  text += body;
  text += fmt::format(
      "  float all = (float)(w[0] ^ w[1] ^ w[2] ^ w[3]);\n#pragma unroll\n  for (int i = 0; i < {}; ++i) all += d[i];\n  "
      "settle(all);\n}}\n",
      head.width / 2);
  micro.source = fmt::format("// contention {}: {}\n", made.name, made.about) + device_text(text) + "\n" + text;
  return made;
}

ContentionKernel accepted(std::string experiment, int width, bool registers) {
  const std::string operand = registers ? "rs" : "ss";
  const std::string name = width == 128 ? fmt::format("accepted_{}", operand) : fmt::format("width_{}_{}", width, operand);
  ContentionKernel made =
      kernel_of({std::move(experiment), name,
                 fmt::format("one group, {} wgmmas of 64 x {} x 16, A in {}: the clock when each is accepted, and when all are done",
                             kAcceptedMmas, width, registers ? "registers" : "shared memory"),
                 1, width},
                product_of("product", width, registers) + fmt::format("  time_accepted<{}>(out, d, product);\n", kAcceptedMmas));
  made.registers = registers;
  return made;
}

ContentionKernel served(bool first, bool second) {
  const auto word = [](bool registers) { return registers ? "rs" : "ss"; };
  return kernel_of(
      {"served", fmt::format("served_{}_{}", word(first), word(second)),
       fmt::format("two groups, {} wgmmas each, the second 0, 64, 160, 300 cycles later: when all are accepted, when done", kServedMmas),
       2},
      product_of("first", 128, first) + product_of("second", 128, second) +
          fmt::format("  time_served<{}>(out, d, first, second);\n", kServedMmas));
}

/// What a group does beside mmas: calls of the functions of contention.cuh on x[64], o[64], most[2], factor[2], sum[2] of type float and
/// y[32] of type u32, at the address `mine`.
struct Work {
  const char *experiment, *name, *about, *pass;
  ContentionWork of;  ///< of one warp; what .reuse caches is not read again
};

constexpr Work kWorks[] = {
    {"beside", "mul", "multiplications by a constant", "multiply(x);", {64, 64, 0}},
    {"beside", "add", "additions", "add(x);", {64, 128, 0}},
    {"beside", "fma", "multiplications with an addition", "multiply_add(x);", {64, 192, 0}},
    {"beside", "max", "maxima", "maxima(x);", {64, 128, 0}},
    {"beside", "pack", "conversions of two numbers into a word", "pack(y);", {32, 64, 0}},
    {"beside", "exp2", "exponentials", "exponentials(x);", {64, 64, 64}},
    {"beside", "lop3", "logic of three words", "logic(y);", {64, 192, 0}},
    {"beside", "prmt", "permutations of bytes", "permute(y);", {64, 128, 0}},
    {"beside", "shuffle", "shuffles", "shuffle(y);", {8, 8, 0}},
    {"softmax",
     "softmax",
     "attention's softmax of 64 x 128",
     "row_maxima(x, most, factor); powers(x, most); sums_and_words(x, sum, factor, y); rescale(o, factor); may_change(never, smem, x);",
     {363, 475, 66}},
    {"softmax", "softmax_powers", "its exponentials of differences", "powers(x, most); may_change(never, smem, x);", {128, 128, 64}},
    {"softmax", "softmax_sums", "its sums and conversions", "sums_and_words(x, sum, factor, y); may_change(never, smem, x);", {98, 194, 0}},
    {"softmax",
     "softmax_powers_sums",
     "its exponentials, sums and conversions",
     "powers(x, most); sums_and_words(x, sum, factor, y); may_change(never, smem, x);",
     {226, 322, 64}},
    {"shared-memory", "load", "loads of 16 bytes a lane from shared memory", "load_rows(mine, y);", {8, 8, 0}},
    {"shared-memory", "store", "stores of 16 bytes a lane to shared memory", "store_rows(mine, y);", {8, 40, 0}},
};

/// Whether `text` has `name` as a word of its own.
bool names(std::string_view text, std::string_view name) {
  const auto in_word = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
    if ((at == 0 || !in_word(at - 1)) && !in_word(at + name.size())) return true;
  return false;
}

ContentionKernel beside(const Work& work) {
  struct Array {
    const char *type, *name;
    int count;
    const char *value, *used;
  };
  constexpr Array kArrays[] = {{"float", "x", 64, "0.5f + 0.001f * (float)(threadIdx.x + i)", "x[i]"},
                               {"float", "o", 64, "1.0f + 0.001f * (float)(threadIdx.x + i)", "o[i]"},
                               {"float", "most", 2, "0.125f * (float)threadIdx.x", "most[i]"},
                               {"float", "factor", 2, "1.0f + 0.001f * (float)threadIdx.x", "factor[i]"},
                               {"float", "sum", 2, "0.0f", "sum[i]"},
                               {"u32", "y", 32, "0x3f800000u + threadIdx.x + i", "__uint_as_float(y[i])"}};
  std::string body, used;
  for (const Array& array : kArrays) {
    if (!names(work.pass, array.name)) continue;
    const std::string all = fmt::format("#pragma unroll\n  for (int i = 0; i < {}; ++i) ", array.count);
    body += fmt::format("  {} {}[{}];\n{}{}[i] = {};\n", array.type, array.name, array.count, all, array.name, array.value);
    used += fmt::format("{}used += {};\n", all, array.used);
  }
  if (names(work.pass, "never")) body += "  u32 first;\n  load_word(smem, first);\n  const bool never = first == 1;\n";
  if (names(work.pass, "mine")) body += "  const u32 mine = smem + 49152 + threadIdx.x % 128 * 16;\n";  // beside what the mmas read
  body += product_of("shared_product", 128, false) + product_of("register_product", 128, true);
  body += fmt::format(
      "  const auto product = [&](int beside) {{\n    if (beside == 1) shared_product();\n    if (beside == 2) register_product();\n  }};\n"
      "  time_beside<{}>(out, stop, d, [&] {{ {} }}, product);\n  float used = 0.0f;\n{}  settle(used);\n",
      kBesidePasses, work.pass, used);
  const bool softmax = std::string_view(work.experiment) == "softmax";
  ContentionKernel made =
      kernel_of({work.experiment, fmt::format("{}{}", softmax ? "" : "beside_", work.name),
                 fmt::format("{} alone, beside wgmmas from shared memory, beside wgmmas from registers", work.about), 2},
                body);
  made.work = work.of;
  return made;
}

ContentionKernel turn() {
  return kernel_of({"turn", "turn", fmt::format("{} hand-overs of a turn between two groups", 2 * kTurnRounds), 2, 8},
                   fmt::format("  time_turns<{}>(out);\n", kTurnRounds));
}

}  // namespace

std::vector<ContentionKernel> contention_kernels(const std::string& experiment) {
  std::vector<ContentionKernel> all{accepted("accepted", 128, false), accepted("accepted", 128, true), served(false, false),
                                    served(false, true), served(true, false)};
  for (const Work& work : kWorks)
    if (std::string_view(work.experiment) == "beside") all.push_back(beside(work));
  all.push_back(turn());
  for (const Work& work : kWorks)
    if (std::string_view(work.experiment) != "beside") all.push_back(beside(work));
  for (const int width : {64, 176, 256})
    for (const bool registers : {false, true}) all.push_back(accepted("widths", width, registers));
  if (!experiment.empty()) std::erase_if(all, [&](const ContentionKernel& kernel) { return kernel.experiment != experiment; });
  return all;
}

ContentionWork counted_work(const ContentionKernel& kernel, const std::string& cubin) {
  ContentionWork found;
  const auto code = read_instructions(cubin);
  if (!code.ok()) return kernel.work;
  for (const MachineLoop& loop : find_loops(*code)) {
    const QuarterWarp warp = quarter_warp(*code, loop.flow, 128);
    ContentionWork work;
    bool products = false;
    for (const QuarterStep& step : warp.steps) {
      if (step.unit == QuarterUnit::Shared && kernel.experiment == "softmax") continue;  // loads that never run: may_change()
      products = products || step.unit == QuarterUnit::Product;
      ++work.instructions;
      work.reads += step.reads;
      work.specials += step.unit == QuarterUnit::Special;
    }
    const bool all = work.specials == kernel.work.specials && 2 * work.instructions >= kernel.work.instructions;
    if (!products && all && work.reads > found.reads) found = work;
  }
  return found.reads > 0 ? found : kernel.work;
}

}  // namespace heddle::codegen
