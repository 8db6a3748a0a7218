// Offsets come from the file, so everything is read through a reader that checks them (codegen/machine_code/bytes.h).
#include "codegen/machine_code/instructions.h"

#include <iterator>
#include <map>

#include "codegen/machine_code/bytes.h"
#include "codegen/machine_code/line_table.h"

namespace heddle::codegen {
namespace {

constexpr std::uint64_t kBytes = 16;                    ///< of an instruction
constexpr int kBranch = 0x947, kUniformBranch = 0x547;  // the other is taken by a uniform predicate

/// The row that each instruction belongs to; no line before the first.
std::vector<LineRow> rows_of(std::size_t instructions, std::string_view section) {
  const std::vector<LineRow> table = read_line_table(section);
  std::vector<LineRow> rows(instructions);
  std::size_t next = 0;
  for (std::size_t i = 0; i < instructions; ++i) {
    while (next < table.size() && table[next].address <= i * kBytes) ++next;
    if (next > 0) rows[i] = table[next - 1];
  }
  return rows;
}

/// ptxas leaves out a row where an instruction comes from the same line of the same inlined wrapper as the one before it, also when
/// the wrapper was called elsewhere. The call is then that of the nearest one in the PTX text that has a row.
void give_lines(std::vector<MachineInstruction>& code, std::string_view cuda, std::string_view ptx) {
  const std::vector<LineRow> rows = rows_of(code.size(), cuda), steps = rows_of(code.size(), ptx);
  const auto has_row = [&](std::size_t i) { return rows[i].address == i * kBytes; };
  std::map<int, std::map<int, int>> calls;  // by line of the wrapper, then of PTX
  for (std::size_t i = 0; i < code.size(); ++i)
    if (rows[i].inner > 0 && has_row(i) && steps[i].line > 0) calls[rows[i].inner].emplace(steps[i].line, rows[i].line);
  for (std::size_t i = 0; i < code.size(); ++i) {
    code[i].line = rows[i].line;
    if (rows[i].inner == 0 || has_row(i) || steps[i].line == 0) continue;
    const std::map<int, int>& known = calls[rows[i].inner];
    if (known.empty()) continue;
    auto near = known.lower_bound(steps[i].line);
    if (near == known.end() || (near != known.begin() && steps[i].line - std::prev(near)->first <= near->first - steps[i].line)) --near;
    code[i].line = near->second;
  }
}

}  // namespace

Result<std::vector<MachineInstruction>> read_instructions(std::string_view cubin) {
  const auto bad = [] { return Error::input("this is no compiled kernel (a 64-bit ELF file with sections)"); };
  ByteReader reader(cubin);
  if (!cubin.starts_with("\x7f"
                         "ELF\x02"))
    return bad();
  const auto sections = reader.at<std::uint64_t>(40);
  const auto entry = reader.at<std::uint16_t>(58), count = reader.at<std::uint16_t>(60), names = reader.at<std::uint16_t>(62);
  if (!reader.good() || entry < 64 || names >= count) return bad();
  const auto header = [&](std::uint16_t index) { return sections + std::uint64_t{index} * entry; };
  const auto content = [&](std::uint16_t index) {
    return reader.range(reader.at<std::uint64_t>(header(index) + 24), reader.at<std::uint64_t>(header(index) + 32));
  };
  const std::string_view strings = content(names);
  std::vector<MachineInstruction> code;
  std::string_view lines, ptx_lines;
  int texts = 0;
  for (std::uint16_t s = 0; s < count && reader.good(); ++s) {
    const auto at = reader.at<std::uint32_t>(header(s));
    if (at >= strings.size()) continue;
    const std::string_view name = strings.substr(at);
    if (name.starts_with(std::string_view(".debug_line\0", 12))) lines = content(s);
    if (name.starts_with(std::string_view(".nv_debug_line_sass\0", 20))) ptx_lines = content(s);
    if (!name.starts_with(".text.")) continue;
    ++texts;
    ByteReader bytes(content(s));
    for (std::uint64_t offset = 0; bytes.range(offset, kBytes), bytes.good(); offset += kBytes)
      code.push_back({bytes.at<std::uint64_t>(offset), bytes.at<std::uint64_t>(offset + 8), 0});
  }
  if (!reader.good() || code.empty()) return bad();
  if (texts == 1) give_lines(code, lines, ptx_lines);  // addresses of several sections cannot be told apart without relocations
  return code;
}

std::optional<std::size_t> branch_target(const std::vector<MachineInstruction>& code, std::size_t at) {
  const MachineInstruction& branch = code[at];
  if (branch.key() != kBranch && branch.key() != kUniformBranch) return std::nullopt;
  // 56 bits in words of 4 bytes, relative to the next instruction: bits 16 to 23, then 34 to 81.
  const std::uint64_t upper = branch.low >> 34 | branch.high << 30;
  const std::uint64_t bits = (branch.low >> 16 & 0xff) | (upper & ((std::uint64_t{1} << 48) - 1)) << 8;
  const std::int64_t words = static_cast<std::int64_t>(bits << 8) >> 8;
  const std::int64_t target = static_cast<std::int64_t>(at) + 1 + words / 4;
  if (words % 4 != 0 || target < 0 || target >= static_cast<std::int64_t>(code.size())) return std::nullopt;
  return static_cast<std::size_t>(target);
}

}  // namespace heddle::codegen
