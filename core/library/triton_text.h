// A Triton text where a kernel is expected (core/triton/read/files.h says how one is named): the loop that is meant, in one reading, as a
// kernel of Heddle's own; and the machine of its target.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/machine/machine.h"
#include "core/triton/kernel/native.h"
#include "core/triton/read/files.h"
#include "core/triton/read/program.h"

namespace heddle {

struct TritonText {
  std::string name;  ///< as typed
  triton::Program program;
  std::size_t loop = 0;  ///< index into program.loops
  triton::Reading reading = triton::Reading::Free;
  triton::Native native;
  Kernel kernel;                   ///< the native one; in the free reading cut so that every warp group of the text has its own rows
  std::vector<std::string> notes;  ///< what the text does not say and was assumed, and what its metadata contradicts

  const triton::LoopSite& site() const { return program.loops[loop]; }
};

/// Whether the name leads to a Triton text, or to what must be one: a file by its ending, a folder. Where it cannot be read or holds
/// nothing of Triton's, readers say so.
bool names_triton(const std::string& name);
/// The reading that the name asks for; none where it does not say.
std::optional<triton::Reading> reading_in(const std::string& name);
/// The name with this reading added. Pre: it has none.
std::string with_reading(const std::string& name, triton::Reading reading);

/// The program that the name means, whichever loop.
Result<triton::Program> read_triton_program(const std::string& name);
/// `otherwise`: the reading where the name says none.
Result<TritonText> read_triton(const std::string& name, triton::Reading otherwise = triton::Reading::Free);

/// The shipped machine for the text's target.
Result<Machine> read_triton_machine(const std::string& name);
/// The same; for a target that no machine file is for, one that has limits only, so that memory can be judged.
Machine limits_of_target(const triton::Program& program);

}  // namespace heddle
