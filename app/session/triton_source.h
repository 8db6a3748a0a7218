// A Triton kernel that is open: the text it stands in, which loop of it is worked on, and by which reading. A text of which no loop can be
// scheduled, and a log or folder of which no kernel was chosen yet, are open too: they say why there is nothing to solve.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/problem/problem.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/kernel/lowered.h"
#include "core/triton/read/files.h"
#include "core/triton/read/program.h"

namespace heddle::app {

/// As it was found; never changed.
struct TritonFile {
  std::string path;
  std::vector<triton::Offer> offers;  ///< one for a plain text
};

struct TritonSource {
  std::shared_ptr<const TritonFile> file;
  std::vector<std::string> words;                  ///< pass and kernel, as FILE#WORDS says them; of an offer that was chosen
  std::shared_ptr<const triton::Program> program;  ///< null: a kernel is still to be chosen
  std::optional<triton::LoweredLoop> loop;         ///< of `program`; none: there is no loop to take
  triton::Reading reading = triton::Reading::Triton;
  std::shared_ptr<const triton::Native> native;  ///< of the loop, by the reading
  std::shared_ptr<const Kernel> kernel;          ///< of `native`, cut as the reading wants it
  std::vector<Fault> refused;                    ///< why there is no kernel; empty with one

  const triton::LoopSite* the_loop() const { return loop ? &loop->site() : nullptr; }
  /// As core/triton/read/files.h reads it: FILE#WORDS,LOOP,READING; without a kernel to work on: FILE#WORDS.
  std::string name() const;
};

/// FILE, FILE#WORDS. Where no reading is said: Triton's, else the free one. Faults: what cannot be read at all.
Result<TritonSource> read_triton_source(const std::string& name);
/// The same file, with another kernel or pass of it, another loop, another reading; what is not said stays.
Result<TritonSource> other_source(const TritonSource& source, const std::optional<std::string>& words, std::optional<int> loop,
                                  std::optional<triton::Reading> reading);

/// What its passes obey, of this problem: the demands that a triton reading begins with.
Constraints rules_of(const TritonSource& source, const Problem* problem);
/// Why there is nothing to solve, as sentences.
std::string why_no_kernel(const TritonSource& source);
/// "line 83: tt.dot: a product ... (what to do)": of a fault in the text, without its file.
std::string in_words(const Fault& fault);

/// "Triton's", "best Triton could do": what rows of the list are called.
std::string row_name(triton::Whose whose);
const char* short_name(triton::Reading reading);
/// "Triton's", "the free": before the word reading.
std::string with_article(triton::Reading reading);
/// What it means, in one sentence.
const char* about(triton::Reading reading);

/// Where an op of the problem comes from: cut ones from what was cut. Null: it is nothing of the text's.
const triton::Origin* origin_of(const TritonSource& source, const std::string& op);
/// The ops of the problem that come from this one of the text, parts of it included.
std::vector<OpId> ops_from(const TritonSource& source, const Problem& problem, mlir::OpId op);
/// The op of the problem that stands in this line of the text; invalid: none.
OpId op_at_line(const TritonSource& source, const Problem& problem, int line);

/// The source program on this machine: the file that the text names, absolute, or beside the text, or its last part there. Empty: it is
/// not here.
std::string find_source_file(const TritonSource& source, const std::string& file);
/// That line of a file, without the blanks around it; empty where it has none.
std::string line_of_file(const std::string& path, int line);

}  // namespace heddle::app
