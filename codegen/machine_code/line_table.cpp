// DWARF versions 2 to 4, as nvcc and NVRTC of CUDA 12 and 13 write them. Source: DWARF 4, section 6.2.
#include "codegen/machine_code/line_table.h"

#include <array>
#include <cstddef>
#include <optional>

#include "codegen/machine_code/bytes.h"

namespace heddle::codegen {
namespace {

constexpr std::uint8_t kInlinedCall = 0x90;  ///< CUDA: operands are the row of the call (from 1; 0: none) and a name
constexpr std::size_t kMostRows = 4'000'000;

struct Header {
  std::uint64_t end = 0, program = 0;  ///< offsets in the section
  int line_base = 0, line_range = 1, opcode_base = 1, unit = 1;
  std::array<std::uint8_t, 256> operands{};  ///< of the standard opcodes
};

std::optional<Header> read_header(ByteReader& reader) {
  Header header;
  const auto length = reader.next<std::uint32_t>();
  header.end = reader.position() + length;
  const auto version = reader.next<std::uint16_t>();
  if (version < 2 || version > 4) return std::nullopt;
  const auto rest = reader.next<std::uint32_t>();
  header.program = reader.position() + rest;
  header.unit = reader.next<std::uint8_t>();
  if (version == 4) (void)reader.next<std::uint8_t>();
  (void)reader.next<std::uint8_t>();  // whether rows begin statements
  header.line_base = reader.next<std::int8_t>();
  header.line_range = reader.next<std::uint8_t>();
  header.opcode_base = reader.next<std::uint8_t>();
  for (int opcode = 1; opcode < header.opcode_base; ++opcode)
    header.operands[static_cast<std::size_t>(opcode)] = reader.next<std::uint8_t>();
  if (!reader.good() || header.line_range == 0 || header.opcode_base == 0) return std::nullopt;
  return header;
}

struct Row {
  std::uint64_t address = 0;
  int line = 0;
  std::uint64_t call = 0;  ///< row of the call that this is inlined at, from 1; 0: none
};

std::vector<Row> run(ByteReader& reader, const Header& header) {
  std::vector<Row> rows;
  Row row{0, 1, 0};
  reader.seek(header.program);
  while (reader.good() && reader.position() < header.end && rows.size() < kMostRows) {
    const auto opcode = reader.next<std::uint8_t>();
    if (opcode >= header.opcode_base) {
      const int adjusted = opcode - header.opcode_base;
      row.address += static_cast<std::uint64_t>(adjusted / header.line_range) * static_cast<std::uint64_t>(header.unit);
      row.line += header.line_base + adjusted % header.line_range;
      rows.push_back(row);
      continue;
    }
    switch (opcode) {
      case 0: {  // extended: length, opcode, operands
        const std::uint64_t length = reader.next_unsigned(), begin = reader.position();
        const auto extended = length > 0 ? reader.next<std::uint8_t>() : std::uint8_t{0};
        if (extended == 1) return rows;  // the sequence ends
        if (extended == 2) row.address = reader.next<std::uint64_t>();
        if (extended == kInlinedCall) row.call = reader.next_unsigned();
        reader.seek(begin + length);
        break;
      }
      case 1: rows.push_back(row); break;
      case 2: row.address += reader.next_unsigned() * static_cast<std::uint64_t>(header.unit); break;
      case 3: row.line = static_cast<int>(row.line + reader.next_signed()); break;
      case 8: row.address += static_cast<std::uint64_t>((255 - header.opcode_base) / header.line_range * header.unit); break;
      case 9: row.address += reader.next<std::uint16_t>(); break;
      default:
        for (int operand = 0; operand < header.operands[opcode]; ++operand) (void)reader.next_unsigned();
    }
  }
  return rows;
}

}  // namespace

std::vector<LineRow> read_line_table(std::string_view section) {
  ByteReader reader(section);
  const auto header = read_header(reader);
  if (!header) return {};
  const std::vector<Row> rows = run(reader, *header);
  std::vector<LineRow> table;
  table.reserve(rows.size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::size_t outer = r;
    while (rows[outer].call > 0 && rows[outer].call <= outer) outer = static_cast<std::size_t>(rows[outer].call) - 1;  // a call comes first
    const LineRow row{rows[r].address, rows[outer].line, outer == r ? 0 : rows[r].line};
    if (!table.empty() && table.back().address == row.address)
      table.back() = row;  // several rows of one address: the last one counts
    else if (table.empty() || table.back().address < row.address)
      table.push_back(row);
  }
  return table;
}

}  // namespace heddle::codegen
