#include "ptx/units/matrix_ops.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "ptx/run/shared_memory.h"
#include "ptx/units/lane_reader.h"

namespace heddle::ptx {
namespace {

constexpr int kRowBytes = 16;

void judge_shared(const UnitIssue& issue, int cta, std::span<const ByteRange> ranges, bool writes) {
  if (ranges.empty()) return;
  ClusterRun& run = issue.run;
  const Warp& warp = issue.warp();
  ShadowAccess access{warp.component, warp.epoch, Proxy::Generic, run.pc_of(issue.instruction), warp.index, writes ? "store" : "load"};
  access.cycle = issue.fragment.time / 1000;
  if (writes) {
    write_shared(run, cta, ranges, access, warp.known);
    for (const ByteRange& range : ranges) run.shared[static_cast<std::size_t>(cta)].forget(range.begin, range.end);
  } else {
    read_shared(run, cta, ranges, access, warp.known);
  }
  RunEvent* event = run.event(writes ? EventKind::SharedWrite : EventKind::SharedRead, issue.fragment, issue.instruction);
  if (event == nullptr) return;
  event->address = ranges.front().begin | static_cast<std::uint64_t>(cta) << kCtaShift;
  for (const ByteRange& range : ranges) event->amount += range.end - range.begin;
}

/// Lanes that give the address of a row: 8 a matrix, 16 of matrices of 16 rows.
int address_lanes(const PtxInstruction& instruction) {
  const int matrices = instruction.has("x4") ? 4 : instruction.has("x2") ? 2 : 1;
  return std::min(kLanes, matrices * (instruction.has("m16n16") ? 16 : 8));
}

struct TileShape {
  int m = 0, n = 0, k = 0;
};

/// "m16n16k16"
TileShape shape_of(const PtxInstruction& instruction) {
  TileShape shape;
  for (const std::string_view word : instruction.words) {
    const std::size_t n = word.find('n'), k = word.find('k');
    if (word.empty() || word[0] != 'm' || n == std::string_view::npos || k == std::string_view::npos || n < 2 || word[1] < '0' ||
        word[1] > '9')
      continue;
    std::from_chars(word.data() + 1, word.data() + n, shape.m);
    std::from_chars(word.data() + n + 1, word.data() + k, shape.n);
    std::from_chars(word.data() + k + 1, word.data() + word.size(), shape.k);
  }
  return shape;
}

/// Lines of a tile as memory has them: how many, and numbers in each.
struct TileLines {
  int count = 0, length = 0;
};

TileLines lines_of(const PtxInstruction& instruction) {
  const TileShape shape = shape_of(instruction);
  int rows = shape.m, columns = shape.n;
  if (instruction.has("a")) columns = shape.k;
  if (instruction.has("b")) rows = shape.k;
  return instruction.has("col") ? TileLines{columns, rows} : TileLines{rows, columns};
}

}  // namespace

ActionEnd warp_product(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  if (!instruction.operands.empty()) forget_results(run, fragment, instruction, instruction.operands[0], lanes);
  return ActionEnd::Go;
}

ActionEnd matrix_rows(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  const bool stores = instruction.opcode == Opcode::Stmatrix;
  std::vector<ByteRange> ranges;
  int cta = run.warp_of(fragment).cta;
  const int rows = address_lanes(instruction);
  if (instruction.operands.size() < 2) return ActionEnd::Go;
  const LaneValues addresses = run.value(fragment, instruction.operands[stores ? 0 : 1]);
  for (int lane = 0; lane < rows; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    if ((addresses.unknown >> lane & 1) != 0) {
      LaneReader(run, fragment, instruction, lane).need(instruction.operands[stores ? 0 : 1], "the address of a row");
      return ActionEnd::Go;
    }
    const std::uint64_t address = addresses.bits[static_cast<std::size_t>(lane)];
    if (!aligned({run, fragment, instruction}, byte_of(address), kRowBytes, "the address of a row")) continue;
    if (const auto range = shared_range(run, fragment, instruction, address, kRowBytes)) {
      ranges.push_back(*range);
      cta = cta_of(address);
    }
  }
  judge_shared({run, fragment, instruction}, cta, ranges, stores);
  if (!stores) forget_results(run, fragment, instruction, instruction.operands[0], lanes);
  return ActionEnd::Go;
}

ActionEnd matrix_tile(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  const bool stores = instruction.opcode == Opcode::WmmaStore;
  const auto& operands = instruction.operands;
  const TileLines lines = lines_of(instruction);
  if (operands.size() < 2 || lines.count < 1 || lines.count > 256 || lines.length < 1 || lines.length > 256) {
    run.stop(instruction, fmt::format("the shape of {} is not known", instruction.mnemonic));
    return ActionEnd::Go;
  }
  const auto address = run.one_value(fragment, operands[stores ? 0 : 1], lanes, instruction, "the address of the tile");
  const auto stride = operands.size() > 2 ? run.one_value(fragment, operands[2], lanes, instruction, "the stride")
                                          : std::optional<std::uint64_t>(static_cast<std::uint64_t>(lines.length));
  if (!address || !stride) return ActionEnd::Go;
  const auto bits = static_cast<std::uint64_t>(std::max(bits_of(scalar_of(instruction.words.back())), 1));
  const std::uint64_t line_bytes = static_cast<std::uint64_t>(lines.length) * bits / 8;
  const bool shared = run.space(instruction, *address) == AddressSpace::Shared;
  std::vector<ByteRange> ranges;
  for (int line = 0; line < lines.count; ++line) {
    const std::uint64_t at = *address + static_cast<std::uint64_t>(line) * *stride * bits / 8;
    if (shared) {
      if (const auto range = shared_range(run, fragment, instruction, at, line_bytes)) ranges.push_back(*range);
    } else if (run.global.bounded() && run.global.around(at, line_bytes) == nullptr) {
      run.find(CheckRule::OutOfGlobal, fragment, instruction,
               fmt::format("{} bytes at {:#x} are in no buffer of the launch", line_bytes, at));
      break;
    }
  }
  if (shared) judge_shared({run, fragment, instruction}, cta_of(*address), ranges, stores);
  if (!stores) forget_results(run, fragment, instruction, operands[0], lanes);
  return ActionEnd::Go;
}

}  // namespace heddle::ptx
