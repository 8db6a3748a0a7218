// How a loop of Python is taken apart to be rotated (core/triton/back/rotated.h): which statement goes where, and which names have to be
// there before the loop or under a second name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/triton/back/python_text.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// Where a statement of the loop goes. An iteration becomes First, Between, Second in this order; then Second is moved behind the First of
/// the next iteration.
enum class LoopPart {
  First,    ///< the mma that comes early, and all that it needs
  Between,  ///< what is computed on its result, and what serves both
  Second,   ///< the mmas behind that, and what serves them alone
};

/// What the ops of the text say of a statement.
struct StatementWork {
  std::vector<mlir::OpId> ops, products;
  bool loads = false, stores = false;
  bool brings_tile = false;  ///< it loads a tile of several rows
  bool computes = false;     ///< element by element, or along rows: what can run under an mma
};

struct LoopHead {
  std::string variable, callee, low = "0", high, step = "1";
  std::vector<std::string> options;  ///< "num_stages=stages"
};

/// A name that needs a value before the first iteration.
struct FirstValue {
  std::size_t from = 0;  ///< the statement that makes it
  std::string zero;      ///< "tl.zeros((128, 64), tl.float32)"
};

struct RotationPlan {
  RotationPlan(std::string file_name, std::string_view text) : file(std::move(file_name)), source(text) {}

  std::string file;  ///< as the locations name it
  PythonText source;
  std::size_t head_line = 0;  ///< of source.lines()
  int last_line = 0;          ///< of the file
  LoopHead head;
  std::vector<PythonStatement> body;
  std::vector<StatementWork> work;           ///< parallel to body
  std::vector<LoopPart> part;                ///< parallel to body
  std::size_t first = 0;                     ///< the statement with the mma that comes early
  std::vector<bool> behind_first;            ///< parallel to body: needs its result in the same iteration
  std::set<std::string> known;               ///< names that have a value before the loop
  std::map<std::string, FirstValue> wanted;  ///< names that need one
  std::vector<bool> again;                   ///< parallel to body: repeated for the second mmas
  PythonNames names;                         ///< what those assign, under which names
  bool reads_variable = false;               ///< the second mmas read the loop's own variable
  std::int64_t registers = 0;                ///< of a thread, for what lives an iteration longer

  int line(std::size_t s) const { return body[s].first; }
  bool is(std::size_t s, LoopPart where) const { return part[s] == where; }
  /// The statement whose value of `name` is read before statement `before` in the same iteration.
  std::optional<std::size_t> maker(const std::string& name, std::size_t before) const;
  /// The one whose value is there when an iteration begins; none: it never changes.
  std::optional<std::size_t> last_maker(const std::string& name) const { return maker(name, body.size()); }
  /// The one that `reader` reads, from its own iteration or the one before.
  std::optional<std::size_t> source_of(const std::string& name, std::size_t reader) const;
  /// What the source calls triton.language.
  std::string language() const;
  /// A name that stands nowhere in the source, and was not given out before.
  std::string fresh(std::string name);

 private:
  std::set<std::string> taken_;
};

/// "float32" of "f32"; empty for what a number cannot be written of.
std::string python_type(const std::string& element);
/// "line 5", "lines 5, 7 and 9".
std::string lines_text(std::vector<int> lines);

Result<RotationPlan> plan_rotation(const TritonProgram& program, const LoopSite& loop, std::string_view python_source);

}  // namespace heddle::triton
