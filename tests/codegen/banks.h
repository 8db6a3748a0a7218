// How the threads of a text met shared memory, as the emulator counted it, beside what the problem says of it.
#pragma once

#include <string>
#include <vector>

#include "codegen/emit/emit.h"
#include "tests/codegen/fixture.h"

namespace heddle::test {

/// One kind of access on one line of a text (tests/codegen/emulator/banks.h).
struct BankCount {
  int line = 0;
  std::string kind;  ///< "load", "store", "matrix_load", "matrix_store", "product", "box_load", "box_store"
  int bytes = 0;     ///< per address
  long instructions = 0, phases = 0, port = 0;
  int ways = 1, warps = 0;
  bool ragged = false;  ///< lanes of a warp took part differently often
  bool operator==(const BankCount&) const = default;
};
std::vector<BankCount> read_bank_counts(const std::string& path);
/// Of the worst access of threads; 1 where there is none.
int worst_ways(const std::vector<BankCount>& counts);

struct BankComparison {
  int accesses = 0;                      ///< of an op's threads with a value, and of products and boxes, that were compared
  std::vector<std::string> differences;  ///< a sentence each
};
/// Joined by Emission::lines. Of every op and direction: instructions, cycles of the port, and ways, as Problem::layouts has them, times
/// the number of times that it ran; what products and bulk stores take of the port, as the problem's unit uses have it.
BankComparison compare_banks(const Lowering& from, const codegen::Program& program, const codegen::Emission& emission,
                             const std::vector<BankCount>& counts);

}  // namespace heddle::test
