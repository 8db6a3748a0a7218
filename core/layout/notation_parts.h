// What the readers of the notations share: a text with a place in it, and faults that say where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/scanner.h"
#include "core/layout/layout.h"
#include "core/layout/notation.h"

namespace heddle {

/// Part of a text for a message: short, printable.
std::string quoted_part(std::string_view text);

class NotationText : public Scanner {
 public:
  NotationText(std::string_view text, std::string file, std::string pointer)
      : Scanner(text), file_(std::move(file)), pointer_(std::move(pointer)) {}

  bool expect(char c);  ///< else a fault
  /// A word of letters, digits, '_', '.' and '#'; may be empty.
  std::string_view word();
  /// 0 or more; CuTe's "_64" is 64. Else a fault.
  std::optional<std::int64_t> number();

  /// The first fault is kept: what comes after it is a consequence.
  void wrong(const std::string& what);
  void say(std::string message, std::string hint = {});
  bool ok() const { return faults_.empty(); }
  Error error() const { return Error{ErrorKind::Input, faults_}; }
  /// Checked; faults of the layout say where in it.
  Result<Layout> checked(Layout layout, const LayoutContext& context);

 private:
  std::string file_, pointer_;
  std::vector<Fault> faults_;
};

Result<Layout> parse_cute(NotationText& text, const LayoutContext& context);
Result<Layout> parse_bases(NotationText& text, const LayoutContext& context);
/// Triton's bases, with "repeat" and "shape" where they do not say it all.
std::string bases_text(const Layout& layout);

}  // namespace heddle
