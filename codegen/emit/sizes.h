// Sizes at run time: the text's argument `sizes`, what of it stands for which expression, and what a host must check. Without them
// (Program::sizes is empty) expressions are numbers, and nothing here writes anything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/emit/context.h"

namespace heddle::codegen {

/// Sizes that are not known before the kernel is started are in it.
bool at_run_time(const EmitContext& emit, const Expr& expr);
/// "sizes.M" and the like, as more variables of expressions that a thread computes.
void add_size_variables(const EmitContext& emit, std::vector<std::string>& variables, std::vector<std::string>& texts);
/// An expression of parameters: a number, or a field of the argument by this name, which has it from now on.
/// An extent is a 32-bit number, and so is every product on the way to it.
void require_extent(EmitContext& emit, const Expr& extent, const std::string& sentence);
std::string size_text(EmitContext& emit, const Expr& expr, const std::string& name);
/// As C for the host.
std::string host_text(EmitContext& emit, const Expr& expr);
/// What the host must check; where it is about literals only, it is looked at now, and refused. Once per formula and tensor (`rows_of` as
/// of SizeCondition).
void require_size(EmitContext& emit, std::string formula, std::string sentence, std::optional<std::size_t> rows_of = {});

/// What the op multiplies by: a literal, or a field of the argument where the caller may choose the number. Nothing: by nothing.
std::optional<std::string> factor_text(EmitContext& emit, const TileOp& op);
/// Of a map whose number the caller may choose, the field.
std::optional<std::string> scalar_text(EmitContext& emit, const TileOp& op);

/// Of a program with sizes at run time: parameters, tiles and trips, and what they must be. After the grid's numbers.
void begin_sizes(EmitContext& emit);
/// The text's `struct Sizes`.
void write_sizes(EmitContext& emit);

}  // namespace heddle::codegen
