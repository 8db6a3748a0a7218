#include "codegen/emit/names.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/scanner.h"

namespace heddle::codegen {

std::string safe_name(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, 32)) text += in_name(c) ? c : '_';
  return text.empty() ? "_" : text;
}

std::string comment_text(std::string_view text) {
  std::string safe;
  for (const char c : text) safe += c >= ' ' && c <= '~' && c != '\\' ? c : '_';
  return safe;
}

std::string float_literal(float x) {
  std::string text = fmt::format("{}", x);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

std::optional<float> number_attr(const TileOp& op, const char* name) {
  if (!op.attrs.contains(name)) return std::nullopt;
  if (const auto* whole = op.attr<std::int64_t>(name)) return static_cast<float>(*whole);
  double value = std::numeric_limits<double>::quiet_NaN();
  if (const auto* text = op.attr<std::string>(name))
    if (const auto read = read_number<double>(*text); read && std::isfinite(static_cast<float>(*read))) value = *read;
  return static_cast<float>(value);
}

std::string affine_text(const Affine& affine, const std::vector<std::string>& variables, std::int64_t add) {
  std::string text;
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const std::int64_t c = affine.coefficients[v];
    if (c == 0) continue;
    if (!text.empty()) text += " + ";
    text += c == 1 ? variables[v] : fmt::format("{} * {}", variables[v], c);
  }
  const std::int64_t constant = affine.constant + add;
  if (text.empty()) return fmt::format("{}", constant);
  if (constant != 0) text += fmt::format(" {} {}", constant < 0 ? '-' : '+', constant < 0 ? -constant : constant);
  return text;
}

}  // namespace heddle::codegen
