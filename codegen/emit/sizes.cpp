#include "codegen/emit/sizes.h"

#include <algorithm>
#include <limits>

#include "codegen/emit/places.h"
#include "codegen/emit/size_formula.h"
#include "codegen/emit/walk.h"
#include "codegen/program/run_time_sizes.h"
#include "core/base/assert.h"
#include "core/base/expr_node.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/scalars.h"
#include "core/kernel/switches.h"

namespace heddle::codegen {
namespace {

/// How far beyond the longest tile's last iteration coordinates may still be computed: rounded trips, and the tile itself.
constexpr std::int64_t kMargin = 1 << 20;
constexpr std::int64_t kMostTilesAlong = 100'000'000;

std::map<std::string, std::string> host_names(const EmitContext& emit) {
  std::map<std::string, std::string> texts;
  for (const std::string& name : emit.program.sizes) texts.emplace(name, size_name(name));
  return texts;
}

/// The name, longer where a field of the argument has it.
std::string new_name(const RunTimeSizes& sizes, std::string name) {
  const auto is = [&](const auto& field) { return field.name == name; };
  while (std::any_of(sizes.fields.begin(), sizes.fields.end(), is) || std::any_of(sizes.numbers.begin(), sizes.numbers.end(), is))
    name += '_';
  return name;
}

/// The field of this formula, "sizes.trips"; a new one gets this name, where no other has it.
std::string field_of(EmitContext& emit, std::string name, std::string formula) {
  auto& fields = emit.launch.sizes->fields;
  for (const SizeField& field : fields)
    if (field.formula == formula) return "sizes." + field.name;
  name = new_name(*emit.launch.sizes, std::move(name));
  fields.push_back({name, std::move(formula)});
  return "sizes." + name;
}

/// C divides by nothing less than one.
void require_divisors(EmitContext& emit, const Expr::Node& node) {
  for (const Expr::Node& child : node.children) require_divisors(emit, child);
  const bool divides = node.op == Operator::Divide || node.op == Operator::Modulo || node.op == Operator::CeilDiv;
  if (!divides || !mentions(node.children[1], emit.program.sizes)) return;
  const std::string by = host_text(emit, Expr(node.children[1]));
  require_size(emit, by + " >= 1", by + " is a divisor, at least 1");
}

/// What is left out for the sizes that the text is written with must not be needed for others, and what is there must do for others: a mask
/// of what lies beyond an end hides nothing where nothing does.
void require_same_ops(EmitContext& emit) {
  const auto require = [&](const Expr& when, bool off) {
    if (!at_run_time(emit, when)) return;
    if (off)
      require_size(emit, fmt::format("({}) == 0", host_text(emit, when)), "the text leaves out what sizes need for which " + when.text());
    else
      require_size(emit, host_text(emit, when), "the text has what only sizes need for which " + when.text());
  };
  const Kernel& whole = as_in_file(emit.kernel);
  const auto look_at = [&](const std::optional<Expr>& when, bool does_for_all) {
    if (!when) return;
    const bool off = std::find(emit.kernel.off.begin(), emit.kernel.off.end(), when->text()) != emit.kernel.off.end();
    if (off || !does_for_all) require(*when, off);
  };
  for (const Tensor& tensor : whole.tensors) look_at(tensor.when, false);
  for (const auto* list : {&whole.prologue, &whole.body, &whole.epilogue})
    for (const TileOp& op : *list) look_at(op.when, op.kind == "mask" && flag_attr(op, "before"));
}

void require_params(EmitContext& emit) {
  for (const std::string& param : emit.program.sizes) {
    const std::string name = size_name(param);
    require_size(emit, fmt::format("{} >= 1", name), fmt::format("{} is at least 1", name));
    require_size(emit, fmt::format("{} <= {}", name, std::numeric_limits<std::int32_t>::max()), fmt::format("{} is a 32-bit number", name));
  }
  for (const Condition& condition : emit.kernel.conditions)
    if (at_run_time(emit, condition.expr))
      require_size(emit, host_text(emit, condition.expr),
                   condition.about.empty() ? condition.expr.text() : condition.expr.text() + ": " + condition.about);
  require_same_ops(emit);
}

void require_no_remainder(EmitContext& emit, const Expr::Node& node, const SizeExpr& size) {
  for (const Expr::Node& child : node.children) require_no_remainder(emit, child, size);
  if (node.op != Operator::Divide || !mentions(node, emit.program.sizes)) return;
  require_divisors(emit, node);
  require_size(emit, fmt::format("{} % {} == 0", host_text(emit, Expr(node.children[0])), host_text(emit, Expr(node.children[1]))),
               fmt::format("{} leaves no remainder, which {} would drop", Expr(node).text(), size.what));
}

/// Sizes of the grid, then the number of tiles, those of a cluster counted once.
void count_tiles(EmitContext& emit) {
  std::string tiles;
  bool varies = false;
  for (std::size_t d = 0; d < emit.kernel.grid.size(); ++d) {
    const GridDim& dim = emit.kernel.grid[d];
    std::string count = host_text(emit, dim.size);
    if (emit.program.cluster > 1 && d == emit.program.cluster_dim) count = fmt::format("ceil_div({}, {})", count, emit.program.cluster);
    const bool sized = at_run_time(emit, dim.size);
    emit.grid.fields.push_back(sized ? field_of(emit, "tiles_" + safe_name(dim.name), count) : std::string());
    tiles = tiles.empty() ? count : fmt::format("{} * {}", tiles, count);
    varies = varies || sized;
    if (sized) require_size(emit, count + " >= 1", fmt::format("there is a tile along {}", safe_name(dim.name)));
    // So that what the walk multiplies it by (16 at most) is a 32-bit number.
    if (sized)
      require_size(emit, fmt::format("{} <= {}", count, kMostTilesAlong),
                   fmt::format("at most {} tiles along {}", kMostTilesAlong, safe_name(dim.name)));
    if (varies) require_size(emit, fmt::format("{} <= {}", tiles, kMostTiles), fmt::format("at most {} tiles", kMostTiles));
  }
  emit.launch.sizes->tiles = emit.program.cluster > 1 ? fmt::format("{} * {}", tiles, emit.program.cluster) : tiles;
  if (varies) emit.grid.tiles = field_of(emit, "tiles", tiles);
}

void count_trips(EmitContext& emit) {
  const Program& program = emit.program;
  const std::string trips = host_text(emit, emit.kernel.loop.trips);
  require_size(emit, trips + " >= 1", "the loop has an iteration");
  if (const std::string harm = harm_of_more_trips(emit.kernel, program.params); !harm.empty()) {
    if (program.least_trips > 1)
      require_size(emit, fmt::format("{} >= {}", trips, program.least_trips),
                   fmt::format("the loop has {} iterations or more, for the text runs so many: {}", program.least_trips, harm));
    if (program.trip_step > 1)
      require_size(
          emit, fmt::format("{} % {} == 0", trips, program.trip_step),
          fmt::format("the loop's iterations are a multiple of {}, for the text runs so many at a time: {}", program.trip_step, harm));
  }
  if (emit.kernel.loop.tile_trips) {
    emit.grid.trips = field_of(emit, "most_trips", trips);
    return;
  }
  std::string rounded = fmt::format("max({}, {})", trips, program.least_trips);
  if (program.trip_step > 1) rounded = fmt::format("ceil_div({}, {}) * {}", rounded, program.trip_step, program.trip_step);
  emit.grid.trips = field_of(emit, "trips", rounded);
}

/// Those of the last tile and iteration; indices and sizes count up.
void require_coordinates(EmitContext& emit) {
  auto corner = host_names(emit);
  for (const GridDim& dim : emit.kernel.grid) corner[dim.name] = fmt::format("({} + {})", host_text(emit, dim.size), emit.program.cluster);
  corner[emit.kernel.loop.variable] =
      fmt::format("({} + {})", host_text(emit, emit.kernel.loop.trips), emit.program.least_trips + emit.program.trip_step);
  for (const auto* list : {&emit.kernel.prologue, &emit.kernel.body, &emit.kernel.epilogue})
    for (const TileOp& op : *list)
      for (const Expr& at : op.at)
        if (const auto text = size_formula(at, emit.program.params, corner); text && !at.is_constant())
          require_size(emit, fmt::format("{} <= {}", *text, std::numeric_limits<std::int32_t>::max() - kMargin),
                       "all coordinates are 32-bit numbers");
}

}  // namespace

bool at_run_time(const EmitContext& emit, const Expr& expr) { return mentions(expr.root(), emit.program.sizes); }

void add_size_variables(const EmitContext& emit, std::vector<std::string>& variables, std::vector<std::string>& texts) {
  for (const std::string& name : emit.program.sizes) {
    variables.push_back(name);
    texts.push_back("sizes." + size_name(name));
  }
}

void require_extent(EmitContext& emit, const Expr& extent, const std::string& sentence) {
  if (!at_run_time(emit, extent)) return;
  const auto require = [&](const auto& self, const Expr::Node& node) -> void {
    for (const Expr::Node& child : node.children) self(self, child);
    if (node.op == Operator::Multiply && mentions(node, emit.program.sizes))
      require_size(emit, fmt::format("{} <= {}", host_text(emit, Expr(node)), std::numeric_limits<std::int32_t>::max()), sentence);
  };
  require(require, extent.root());
  require_size(emit, fmt::format("{} <= {}", host_text(emit, extent), std::numeric_limits<std::int32_t>::max()), sentence);
}

std::string size_text(EmitContext& emit, const Expr& expr, const std::string& name) {
  if (!at_run_time(emit, expr)) return fmt::format("{}", expr.evaluate(emit.program.params).value());
  return field_of(emit, name, host_text(emit, expr));
}

std::string host_text(EmitContext& emit, const Expr& expr) {
  require_divisors(emit, expr.root());
  auto text = size_formula(expr, with_switches(emit.kernel, emit.program.params), host_names(emit));
  HEDDLE_ASSERT(text.has_value(), "run_time_params() leaves literal what C cannot compute with");
  return *std::move(text);
}

void require_size(EmitContext& emit, std::string formula, std::string sentence, std::optional<std::size_t> rows_of) {
  auto& conditions = emit.launch.sizes->conditions;
  const auto known = std::any_of(conditions.begin(), conditions.end(),
                                 [&](const SizeCondition& c) { return c.formula == formula && (!c.rows_of || c.rows_of == rows_of); });
  if (known) return;
  const auto parsed = Expr::parse(formula);
  if (!parsed.ok() || !parsed->names().empty()) return conditions.push_back({std::move(formula), std::move(sentence), rows_of});
  // It is about literals.
  if (const auto holds = parsed->evaluate({}); !holds.ok() || *holds == 0)
    emit.refusals.push_back({"run_time_sizes", {}, "what must hold does not: " + sentence, std::nullopt});
}

std::optional<std::string> scalar_text(EmitContext& emit, const TileOp& op) {
  const auto use = emit.launch.sizes ? scalar_use(op) : std::nullopt;
  if (!use) return std::nullopt;
  RunTimeSizes& sizes = *emit.launch.sizes;
  const auto scalar = std::find_if(sizes.scalars.begin(), sizes.scalars.end(), [&](const RunTimeScalar& s) { return s.name == use->name; });
  HEDDLE_ASSERT(scalar != sizes.scalars.end(), "a kernel's ops name what scalars_of() has");
  const auto number = static_cast<std::size_t>(scalar - sizes.scalars.begin());
  for (const ScalarField& field : sizes.numbers)
    if (field.scalar == number && field.factor == use->factor) return "sizes." + field.name;
  sizes.numbers.push_back({new_name(sizes, "f_" + use->name), number, use->factor});
  return "sizes." + sizes.numbers.back().name;
}

std::optional<std::string> factor_text(EmitContext& emit, const TileOp& op) {
  if (auto text = scalar_text(emit, op)) return text;
  const auto scale = number_attr(op, "scale");
  return scale ? std::optional(float_literal(*scale)) : std::nullopt;
}

void begin_sizes(EmitContext& emit) {
  emit.grid.fields.clear();
  if (emit.program.sizes.empty()) return emit.grid.fields.resize(emit.grid.sizes.size());
  emit.launch.sizes.emplace();
  for (const std::string& name : emit.program.sizes) {
    emit.launch.sizes->params.push_back(name);
    const auto& fields = emit.launch.sizes->fields;
    if (std::any_of(fields.begin(), fields.end(), [&](const SizeField& f) { return f.name == size_name(name); }))
      emit.refusals.push_back(
          {"run_time_sizes", {}, fmt::format("two parameters would be called {} in the text", size_name(name)), std::nullopt});
    field_of(emit, size_name(name), size_name(name));
  }
  for (const auto& [name, standard] : scalars_of(emit.kernel, emit.program.params)) emit.launch.sizes->scalars.push_back({name, standard});
  require_params(emit);
  for (const SizeExpr& size : size_exprs(emit.kernel)) require_no_remainder(emit, size.expr->root(), size);
  count_tiles(emit);
  count_trips(emit);
  require_coordinates(emit);
}

void write_sizes(EmitContext& emit) {
  if (!emit.launch.sizes) return;
  emit.text.open("struct Sizes {{");
  for (const SizeField& field : emit.launch.sizes->fields)
    emit.text.line("int {};{}", field.name, field.name == field.formula ? "" : fmt::format("  // {}", field.formula));
  for (const ScalarField& field : emit.launch.sizes->numbers) {
    const ScalarUse use{emit.launch.sizes->scalars[field.scalar].name, field.factor};
    emit.text.line("float {};  // {}", field.name, use.text());
  }
  emit.text.close("};");
}

}  // namespace heddle::codegen
