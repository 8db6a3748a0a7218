// Where the ops of an open Triton kernel come from: in the compiler's text, and in the source program on this machine.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/library/triton_text.h"
#include "core/problem/problem.h"

namespace heddle::app {

/// "line 83: tt.dot: a product ... (what to do)": of a fault in the text, without its file.
std::string in_words(const Fault& fault);

/// Where an op of the problem comes from: cut ones from what was cut. Null: it is nothing of the text's.
const triton::Origin* origin_of(const TritonText& source, const std::string& op);
/// The ops of the problem that come from this one of the text, parts of it included.
std::vector<OpId> ops_from(const TritonText& source, const Problem& problem, mlir::OpId op);
/// The op of the problem that stands in this line of the text; invalid: none.
OpId op_at_line(const TritonText& source, const Problem& problem, int line);

/// The source program on this machine: the file that the text names, absolute, or beside the text, or its last part there. Empty: it is
/// not here.
std::string find_source_file(const TritonText& source, const std::string& file);
/// That line of a file, without the blanks around it; empty where it has none.
std::string line_of_file(const std::string& path, int line);

}  // namespace heddle::app
