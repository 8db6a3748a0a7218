// The shown schedule given back to the compiler whose file is open: what would be written, or why it must not be.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/session/document.h"
#include "app/session/view_state.h"
#include "core/base/result.h"
#include "core/triton/back/give_back.h"

namespace heddle::app {

struct WayBack {
  /// A rule that the schedule breaks, of Heddle's checker or of Triton's passes.
  struct Broken {
    std::string text;  ///< "triton-order: ..."
    std::vector<OpId> ops;
    int line = 0;  ///< of the text; 0: of none
  };
  /// An op whose stage, cluster or partition becomes another.
  struct Change {
    std::string text;  ///< "%k (tt.descriptor_load, line 70): stage 0 -> 1"
    OpId op;           ///< of the problem; may be invalid
    int line = 0;
  };
  std::string why_not;  ///< there is nothing to give back: no text, no schedule of the triton reading; else empty
  std::vector<Broken> broken;
  std::optional<triton::GivenBack> given;  ///< with neither of the two
  std::vector<Change> changes;             ///< of `given`
  triton::TritonMemory before;             ///< of the text as it is
};

WayBack way_back(const Content& content);
/// Without writing it: why there is nothing to give back, or what the checker says against the schedule; empty: way_back() has the answer.
std::string why_no_way_back(const Content& content);
/// The first reason not to write it; empty: there is none.
std::string why_not_given(const WayBack& way);

/// The loop of the open Triton text in Python, its products rotated. Faults: the source is not here, or the loop cannot be.
Result<std::string> rotated_python(const Content& content);

/// A form for people and other programs, or one of whose file is open.
bool goes_back(ExportKind kind);
/// Without writing it: empty when what is shown can go back into the compiler's file in this form, else why not.
std::string why_not_back(const Content& content, ExportKind kind);
/// The file's text. Pre: goes_back(kind).
Result<std::string> text_for_compiler(const Content& content, ExportKind kind);

}  // namespace heddle::app
