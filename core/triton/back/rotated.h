// The rotated loop: what Triton's passes cannot do on Hopper, written in the kernel's own Python. There all compute of a loop stands in one
// stage, so the exponentials between two mmas have nothing to run under. Written with the first mma of the next iteration in
// front of the second mma of this one, the second mma is in flight while the next iteration's softmax runs.
//
// `heddle export x.ttgir --format python [--source FILE.py] [-o FILE]` prints it: read_python() finds the source (--source, else where the
// text's locations say, else beside the text), rotated_loop() writes the text, and the caller may add a remark with the model's price.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// The Python file in which the loop stands, as its locations name it; empty: the text has no locations.
std::string python_file(const TritonProgram& program, const LoopSite& loop);

struct PythonSource {
  std::string path, text;
};
/// `named` is what the user gave (--source); empty: where the locations say, else a file of that name beside the text. A fault says which
/// paths were looked for.
Result<PythonSource> read_python(const TritonProgram& program, const LoopSite& loop, const std::string& named);

/// The loop with most mmas, in any form of the text; null: none has one.
const LoopSite* loop_to_rotate(const TritonProgram& program);

struct RotatedLoop {
  std::string text;                   ///< comments, then Python in the indentation of the source: it replaces the lines below
  std::string file;                   ///< as the locations name it
  int first_line = 0, last_line = 0;  ///< of the source, from the loop's head to the end of its body
  std::vector<std::string> notes;     ///< what stands in the comments, a sentence each
};

/// Faults have the line of the source in `pointer`: a loop in which no mma feeds another through other work, statements that cannot be
/// taken apart, a source that is not the one the text was made from. `remark`: sentences for the comments, a line each; may be empty.
Result<RotatedLoop> rotated_loop(const TritonProgram& program, const LoopSite& loop, std::string_view python_source,
                                 std::string_view remark = {});
/// Faults name the file that was read.
Result<RotatedLoop> rotated_loop(const TritonProgram& program, const LoopSite& loop, const PythonSource& source,
                                 std::string_view remark = {});

}  // namespace heddle::triton
