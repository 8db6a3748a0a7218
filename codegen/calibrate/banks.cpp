// Micro-kernels for the instruction catalogue: a warpgroup whose lanes meet in banks exactly so often. Whether lanes go to memory all at
// once, half a warp or a quarter of one at a time is not documented for every width; of addresses that are one way under one rule and
// another way under the next, the times tell which it is.
#include <array>
#include <bit>
#include <set>

#include <fmt/format.h>

#include "codegen/calibrate/body.h"
#include "core/layout/access.h"

namespace heddle::codegen {
namespace {

constexpr int kTogether = 16;                           ///< instructions of a warp, one after the other
constexpr int kWarps = 4;                               ///< of a warpgroup
constexpr std::int64_t kBankRow = kBanks * kBankBytes;  ///< bytes from one word of a bank to the next
constexpr int kWordBytes = 4, kRowBytes = 16;           ///< a matrix row

/// The wrapper of codegen/device/shared_memory.cuh, and the registers that it takes; empty: there is none.
struct Wrapper {
  std::string name;
  int registers = 1;
};
Wrapper wrapper_of(const Instruction& row) {
  const bool load = row.kind == InstructionKind::SharedLoad || row.kind == InstructionKind::MatrixLoad;
  const std::string verb = load ? "load_" : "store_";
  if (row.kind == InstructionKind::MatrixLoad || row.kind == InstructionKind::MatrixStore) {
    const char* count = row.matrices == 1 ? "matrix" : row.matrices == 2 ? "two_matrices" : row.matrices == 4 ? "matrices" : "";
    if (*count == 0) return {};
    return {verb + count + (row.transposed ? "_transposed" : ""), row.matrices};
  }
  if (row.kind != InstructionKind::SharedLoad && row.kind != InstructionKind::SharedStore) return {};
  switch (row.bytes) {
    case 1: return {verb + "byte", 1};
    case 2: return {verb + "half", 1};
    case 4: return {verb + "word", 1};
    case 8: return {verb + "two", 2};
    case 16: return {verb + "words", 4};
    default: return {};
  }
}

/// Per bit of the lane's number: in a phase some move to other words of one bank and the others side by side, to banks that no lane
/// has; what tells phases apart moves to other banks while there are any. Nothing where a phase has too few lanes.
std::optional<std::vector<std::int64_t>> lane_moves(int bytes, int lanes, int lanes_per_phase, int ways) {
  const int bits = std::countr_zero(static_cast<unsigned>(lanes)), in_phase = std::countr_zero(static_cast<unsigned>(lanes_per_phase)),
            meeting = std::countr_zero(static_cast<unsigned>(ways));
  if (meeting > in_phase || in_phase > bits) return std::nullopt;
  std::vector<std::int64_t> moves;
  std::int64_t beside = std::max(bytes, kWordBytes), far = kBankRow;
  const auto move = [](std::int64_t& by) { return std::exchange(by, 2 * by); };
  for (int bit = 0; bit < bits; ++bit) {
    const bool meets = bit >= in_phase - meeting && bit < in_phase;
    if (!meets && bit < in_phase && beside >= kBankRow) return std::nullopt;
    moves.push_back(meets || beside >= kBankRow ? move(far) : move(beside));
  }
  return moves;
}

MicroKernel bank_kernel(const Instruction& row, int ways, const std::vector<std::int64_t>& moves) {
  const Wrapper wrapper = wrapper_of(row);
  const bool load = row.kind == InstructionKind::SharedLoad || row.kind == InstructionKind::MatrixLoad;
  const bool matrix = row.kind == InstructionKind::MatrixLoad || row.kind == InstructionKind::MatrixStore;
  const int words = kTogether * wrapper.registers;
  Scope dims{
      {"ways", ways}, {"width", matrix ? kRowBytes : row.bytes}, {"lanes", std::int64_t{1} << moves.size()}, {"store", load ? 0 : 1}};
  std::string place = "smem";
  for (std::size_t bit = 0; bit < moves.size(); ++bit) {
    place += fmt::format(" + (lane >> {} & 1) * {}", bit, moves[bit]);
    dims[fmt::format("move{}", bit)] = moves[bit];
  }
  std::string registers;
  for (int i = 0; i < wrapper.registers; ++i) registers += fmt::format(", w[{} * j + {}]", wrapper.registers, i);
  MicroBody body = shared_moves(
      words, !load, "own",
      fmt::format("#pragma unroll\n    for (int j = 0; j < {}; ++j) {}(at + j * 1024{});\n", kTogether, wrapper.name, registers));
  body.setup += fmt::format("  const u32 own = {};\n", place);
  MicroKernel kernel = micro_kernel(row.name, std::move(dims), body);
  kernel.instruction = row.name;
  kernel.ways = ways;
  kernel.bytes = matrix ? kRowBytes : row.bytes;
  kernel.lane_bytes = moves;
  kernel.issued = kTogether * kWarps;
  return kernel;
}

}  // namespace

std::vector<MicroKernel> bank_kernels(const Machine& machine, std::vector<std::string>& left_out) {
  std::vector<MicroKernel> kernels;
  for (const Instruction& row : machine.instructions) {
    if (!is_shared_access(row.kind)) continue;
    const bool matrix = row.kind == InstructionKind::MatrixLoad || row.kind == InstructionKind::MatrixStore;
    const std::size_t before = kernels.size();
    const bool phases =
        row.lanes_per_phase >= 1 && row.lanes_per_phase <= kWarpLanes && std::has_single_bit(static_cast<unsigned>(row.lanes_per_phase));
    if (phases && !wrapper_of(row).name.empty())
      for (const int ways : kBankWays)
        if (const auto moves =
                lane_moves(matrix ? kRowBytes : row.bytes, matrix ? 8 * row.matrices : kWarpLanes, row.lanes_per_phase, ways))
          kernels.push_back(bank_kernel(row, ways, *moves));
    if (kernels.size() == before) left_out.push_back(row.name);
  }
  return kernels;
}

std::int64_t bank_cycles(const MicroKernel& kernel, int lanes_per_phase) {
  const int lanes = 1 << kernel.lane_bytes.size();
  std::int64_t cycles = 0;
  for (int first = 0; first < lanes; first += lanes_per_phase) {
    std::array<std::set<std::int64_t>, kBanks> words;
    for (int lane = first; lane < std::min(first + lanes_per_phase, lanes); ++lane) {
      std::int64_t address = 0;
      for (std::size_t bit = 0; bit < kernel.lane_bytes.size(); ++bit)
        if (lane >> bit & 1) address += kernel.lane_bytes[bit];
      for (std::int64_t byte = address; byte < address + kernel.bytes; ++byte)
        words[static_cast<std::size_t>(byte / kBankBytes % kBanks)].insert(byte / kBankBytes);
    }
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    cycles += static_cast<std::int64_t>(most);
  }
  return cycles;
}

}  // namespace heddle::codegen
