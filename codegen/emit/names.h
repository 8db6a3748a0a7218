// Names and numbers on their way into generated text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/program/indices.h"
#include "core/kernel/kernel.h"

namespace heddle::codegen {

/// Letters, digits and underscores of `name`, everything else an underscore, at most 32 of them: safe in identifiers (after
/// a prefix) and in comments.
std::string safe_name(std::string_view name);
/// Printable and without what would end or continue a line of comment.
std::string comment_text(std::string_view text);

/// A float literal that reads back as the same number: "0.127517431f". Pre: finite.
std::string float_literal(float x);

/// The attribute as a number; nothing when it is absent. NaN when it is no finite number.
std::optional<float> number_attr(const TileOp& op, const char* name);

/// "bm * 128 + 64", with these texts for the variables.
std::string affine_text(const Affine& affine, const std::vector<std::string>& variables, std::int64_t add = 0);

}  // namespace heddle::codegen
