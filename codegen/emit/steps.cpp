// Barriers and TMA, and who writes which step.
#include <algorithm>
#include <utility>

#include "codegen/emit/writer.h"
#include "core/kernel/op_kind.h"

namespace heddle::codegen {
namespace {

bool is_in_parentheses(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (depth += (text[i] == '(') - (text[i] == ')'); depth == 0) return false;
  return text.size() > 1 && text.back() == ')';
}

std::string in_parentheses(const std::string& text) { return text.find(' ') == std::string::npos ? text : "(" + text + ")"; }

}  // namespace

std::string Writer::barrier_text(std::size_t barrier, std::size_t cursor) const {
  const std::int64_t at = barrier_address(program_, barrier);
  if (role_->cursors[cursor].depth == 1) return fmt::format("smem + {}", at);
  return fmt::format("smem + {} + s{} * 8", at, cursor);
}

std::string Writer::barrier_name(std::size_t barrier) const {
  const Barrier& b = program_.barriers[barrier];
  return safe_name(b.full ? kernel_.values[b.value].name : program_.buffers[b.buffer].name);
}

std::string Writer::slot_text(const Place& place, std::string_view base) const {
  const Buffer& buffer = program_.buffers[place.index];
  if (buffer.depth == 1) return fmt::format("{} + {}", base, buffer.offset);
  return fmt::format("{} + {} + s{} * {}", base, buffer.offset, place.cursor, buffer.slot_bytes);
}

/// In clusters a name of its own: one operation per kernel, where a mask in every descriptor would be one per product.
std::string Writer::matrix_text(const Place& place) const { return slot_text(place, program_.cluster > 1 ? "in_block" : "smem"); }

std::string Writer::register_text(const Place& place) const {
  const Variable& v = role_->variables[place.index];
  const std::string name = fmt::format("v{}_{}", place.index, safe_name(v.name));
  return v.copies > 1 ? fmt::format("{}_{}", name, place.copy) : name;
}

std::string Writer::iteration_text(std::int64_t iteration) const {
  const bool from_end = section_->after && program_.varies;
  if (!section_->loop && !from_end) return fmt::format("{}", iteration);
  const std::int64_t offset = iteration - (from_end ? program_.trips : section_->first);
  const char* base = from_end ? "trips" : "i";
  return offset == 0 ? std::string(base) : fmt::format("{} {} {}", base, offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
}

bool Writer::is_zero_fill(std::size_t v) const {
  for (const TileOp& op : kernel_.prologue)
    if (op.kind == "fill" && !op.outputs.empty() && op.outputs[0] == kernel_.values[v].name)
      return number_attr(op, "value").value_or(0.0f) == 0.0f;
  return false;
}

/// A ring whose readers are wgmmas, in whichever role: no thread reads or writes it.
bool Writer::only_products_read(std::size_t empty_barrier) const {
  for (const Role& role : program_.roles)
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        if (step.kind == StepKind::Arrive && step.barrier == empty_barrier && op_of(kernel_, step.op).kind != "mma") return false;
  return true;
}

bool Writer::writes_shared(const Step& step) const {
  return step.kind == StepKind::Put ||
         (step.kind == StepKind::Compute && step.output.kind == Place::Kind::Buffer && !program_.buffers[step.output.index].tensor());
}

/// In every pass, so that what was written before is behind it.
bool Writer::meets(const Step& step) { return step.kind == StepKind::Sync && step.skip_first == 0 && step.skip_last == 0; }

std::string Writer::meeting(const TileOp& op) {
  // A block has 16.
  const std::size_t number = 1 + role_index_;
  const int end = program_.turns ? kFirstTurn : program_.tensor ? kFreeing : 16;
  if (number >= static_cast<std::size_t>(end))
    refuse("named_barriers", op,
           fmt::format("the warps of '{}' meet for '{}', and named barriers are left for {} roles only", role_->name, op.name, end - 1));
  return fmt::format("role_sync<{}, {}>();", number, 32 * role_->warps);
}

void Writer::write_step(const Step& step) {
  wrote_shared_ = wrote_shared_ || writes_shared(step);
  if (step.kind == StepKind::Advance) return write_step_text(step);
  text_ += fmt::format("{}{}\n", kSpanBegins, spans_.size());
  spans_.push_back({0, 0, role_index_, step.op, step.kind, section_->part, step.iteration, step.stage, step.slot});
  write_step_text(step);
  text_ += fmt::format("{}\n", kSpanEnds);
}

void Writer::write_step_text(const Step& step) {
  const auto comment = [&] {
    const TileOp& op = op_of(kernel_, step.op);
    if (step.slot < 0) return named(op);
    return fmt::format("{} of iteration {}, stage {}, slot {}", named(op), iteration_text(step.iteration), step.stage, step.slot);
  };
  switch (step.kind) {
    case StepKind::Wait: {
      const Barrier& barrier = program_.barriers[step.barrier];
      const std::string name = barrier_name(step.barrier);
      // Work that the schedule has before a product, but that only later work needs, would otherwise end up between its wgmmas.
      if (barrier.full && unread_)
        return line("wait_with({}, p{}, {});  // full {}", barrier_text(step.barrier, step.cursor), step.cursor,
                    register_text(std::exchange(unread_, nullptr)->output), name);
      // For what threads of the other block have done.
      const bool for_cluster = program_.pair
                                   ? is_leaders(step.barrier) && barrier.tx_bytes == 0
                                   : !barrier.full && program_.buffers[barrier.buffer].shared && !only_products_read(step.barrier);
      line("{}({}, p{}{});  // {} {}", for_cluster ? "wait_cluster" : "wait", barrier_text(step.barrier, step.cursor), step.cursor,
           step.ahead ? " ^ 1" : "", barrier.full ? "full" : "empty", name);
      return;
    }
    case StepKind::Arrive: {
      const Barrier& barrier = program_.barriers[step.barrier];
      const std::string name = barrier_name(step.barrier);
      if (!barrier.full && program_.buffers[barrier.buffer].shared && !program_.pair) {
        const std::string at = barrier_text(step.barrier, step.cursor);
        line("{0}arrive({1}), {2}({1}, rank ^ 1);  // empty {3}, here and in the other block",
             one_thread_ ? "" : "__syncwarp(); if (lane == 0) ", at,
             only_products_read(step.barrier) ? "arrive_at_after_products" : "arrive_at", name);
        return;
      }
      // What the warp's other lanes did comes first. No branch for the last pass: ptxas moves nothing across one.
      const std::string last = step.only_last ? fmt::format("i >= {}", end_text(*section_, 1)) : "";
      const std::string who = one_thread_ ? last : last.empty() ? "lane == 0" : "lane == 0 && " + last;
      line("{}{}{}({});  // {} {}", one_thread_ ? "" : "__syncwarp(); ", who.empty() ? "" : fmt::format("if ({}) ", who),
           is_leaders(step.barrier) ? "arrive_leader" : "arrive", barrier_text(step.barrier, step.cursor), barrier.full ? "full" : "empty",
           name);
      return;
    }
    case StepKind::Advance:
      if (role_->cursors[step.cursor].depth == 1)
        line("p{} ^= 1;", step.cursor);
      else
        line("if (++s{0} == {1}) s{0} = 0, p{0} ^= 1;", step.cursor, role_->cursors[step.cursor].depth);
      return;
    case StepKind::TakeTurn: {
      const Place* ready = made_before(step);
      line("{}<{}, {}>({});  // {} issues wgmmas", ready ? "take_turn_with" : "take_turn", kFirstTurn + role_index_, kTurnThreads,
           ready ? register_text(*ready) : "", safe_name(role_->name));
      return;
    }
    case StepKind::PassTurn:
      line("pass_turn<{}, {}>();  // to {}", kFirstTurn + step.barrier, kTurnThreads, safe_name(program_.roles[step.barrier].name));
      return;
    case StepKind::Sync:  // for TMA and wgmma only what threads have written needs a fence
      line("{}{}", wrote_shared_ ? "fence_async(); " : "", meeting(op_of(kernel_, step.op)));
      if (meets(step)) wrote_shared_ = false;
      return;
    case StepKind::Commit:
      if (step.engine == Engine::Mma) {
        raw("product_commit();");
        auto& group = flying_.emplace_back();
        for (const Step* s : open_) group.push_back({s, true});
        open_.clear();
      } else {
        raw(one_thread_ ? "store_commit();" : "if (tid == 0) store_commit();");
      }
      return;
    case StepKind::Retire:
      if (step.engine != Engine::Store) return write_retire(step);
      return line("{}store_wait_read<{}>();", one_thread_ ? "" : "if (tid == 0) ", step.keep);
    case StepKind::Put: return write_hand_over(step);
    case StepKind::Signal: return write_signal(step);
    case StepKind::AwaitReads: return write_await_loads();
    case StepKind::AwaitWrites: return raw("tensor_await_stores();");
    case StepKind::FenceBefore: return raw("tensor_fence_before();");
    case StepKind::FenceAfter: return raw("tensor_fence_after();");
    case StepKind::Issue:
      line("// {}", comment());
      if (step.engine == Engine::Load) return write_load(step);
      if (step.engine == Engine::Store) return write_store(step);
      return program_.blackwell() ? write_tensor_product(step) : write_product(step);
    case StepKind::Compute:
      if (step.op.list == OpRef::List::Prologue && step.output.kind == Place::Kind::Variable && only_sums_read_init(step))
        return line("fresh({});  // {}", register_text(step.output), comment());
      finish_lazy_sums(step);
      line("// {}", comment());
      if (unread_ && std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return p.value == unread_->output.value; }))
        unread_ = nullptr;
      if (makes_powers(op_of(kernel_, step.op)) && tiles_ == Tiles::Fragments && words_of(step.output.value) > 2 &&
          !values_[step.output.value].packed)
        unread_ = &step;
      return write_compute(step);
  }
}

// ---- TMA

std::size_t Writer::map_of(const TileOp& op, const Panels& panels) {
  TensorMapPlan plan;
  for (std::size_t t = 0; t < kernel_.tensors.size(); ++t)
    if (kernel_.tensors[t].name == op.tensor) plan.tensor = t;
  const Tensor& tensor = kernel_.tensors[plan.tensor];
  for (const Expr& extent : tensor.shape) plan.extents.insert(plan.extents.begin(), extent.evaluate(program_.params).value());
  const bool whole_bytes = tensor.dtype != DType::I4 || plan.extents[0] % 2 == 0;
  const bool packed = plan_->packed.contains(op.tensor);
  if (packed) {
    const std::int64_t columns = packed_columns(bits_of(tensor.dtype));
    if (plan.extents[0] % columns != 0 || plan.extents[1] % kPackedRows != 0)
      refuse("tensor_map", op,
             fmt::format("'{}' moves a tile of a prepacked tensor, which has whole blocks of {} x {}", op.name, kPackedRows, columns));
    plan.extents[0] = plan.extents[0] / columns * kRowsOfBlock;
    plan.extents[1] /= kPackedRows;
    plan.extents.insert(plan.extents.begin(), panels.width);
  } else if (tensor.dtype == DType::I4) {
    plan.extents[0] /= 2;
  }
  plan.box.assign(plan.extents.size(), 1);
  plan.box[0] = panels.width;
  if (plan.box.size() > 1) plan.box[1] = panels.rows;
  plan.swizzle = panels.swizzle;
  if (panels.relabelled && plan.extents.size() >= 2) {
    // Of each 16 rows the pairs 0, 2, 4, 6, then 1, 3, 5, 7: as dimensions, with all matrices in the last.
    const std::int64_t columns = plan.extents[0], rows = plan.extents[1], all = plan.extents.size() > 2 ? plan.extents[2] : 1;
    if (rows % panels.rows != 0 || panels.rows % 16 != 0 || plan.extents.size() > 3)
      refuse("tensor_map", op, fmt::format("'{}' brings rows in another order, 16 by 16, of a tensor that has no whole tiles", op.name));
    plan.extents = {columns, 2, 4, 2, rows / 16 * all};
    plan.strides = {1, columns, 4 * columns, 2 * columns, 16 * columns};
    plan.box = {panels.width, 2, 4, 2, panels.rows / 16};
  }
  const std::int64_t bits = std::max(bits_of(tensor.dtype), 8);
  // Coordinates are 32-bit, strides 40-bit (cuTensorMapEncodeTiled).
  std::int64_t stride = bits / 8;
  bool fits = true;
  for (const std::int64_t extent : plan.extents) {
    fits = fits && extent >= 1 && extent < (std::int64_t{1} << 31) && stride < (std::int64_t{1} << 40);
    if (fits) stride *= extent;
  }
  const bool sizes = fits && whole_bytes && plan.extents.size() >= 2 &&
                     (plan.extents.size() <= 3 || panels.relabelled || (packed && plan.extents.size() <= 4)) &&
                     plan.extents[0] * bits % 128 == 0 && bits * panels.width * panels.rows == panels.bytes * 8;
  if (!sizes)
    refuse(
        "tensor_map", op,
        fmt::format("'{}' needs a tensor of the tile's type with two or three dimensions, whose rows are multiples of 16 bytes", op.name));
  // So are a box's rows (cuTensorMapEncodeTiled); swizzled ones are 32 bytes at least.
  if (sizes && plan.box[0] * bits % 128 != 0)
    refuse("tensor_map", op,
           fmt::format("'{}' moves boxes with rows of {} bytes, and rows of a box are multiples of 16 bytes", op.name,
                       plan.box[0] * bits / 8));
  for (std::size_t m = 0; m < launch_.maps.size(); ++m)
    if (launch_.maps[m] == plan) return m;
  launch_.maps.push_back(std::move(plan));
  return launch_.maps.size() - 1;
}

std::vector<std::string> Writer::coordinates(OpRef::List list, std::int64_t iteration, const TileOp& op) {
  std::vector<std::string> variables, texts;
  for (std::size_t d = 0; d < kernel_.grid.size(); ++d) {
    variables.push_back(kernel_.grid[d].name);
    texts.push_back(grid_names_[d]);
  }
  const bool body = list == OpRef::List::Body;
  const bool from_end = section_->after && program_.varies;
  if (looks_rows_up(op)) variables.emplace_back(kRowName), texts.emplace_back("r");
  variables.push_back(kernel_.loop.variable);
  texts.emplace_back(from_end ? "trips" : "i");
  const bool packed = plan_->packed.contains(op.tensor);
  std::vector<std::string> result;
  for (const Expr& at : op.at) {
    auto affine = at.affine(program_.params, variables);
    const Tensor* tensor = kernel_.find_tensor(op.tensor);
    const bool last = &at == &op.at.back();
    const bool by_number = (packed && &op.at.back() - &at < 2) || (tensor && tensor->dtype == DType::I4 && last);
    const bool computed = !affine && !by_number;  // operation by operation, of the loop's index as it is here
    if (computed) affine = Affine{0, std::vector<std::int64_t>(variables.size(), 0)}, affine->coefficients.back() = 1;
    if (!affine) {
      refuse("coordinates", op, fmt::format("'{}' moves packed numbers or numbers of 4 bits at a place that is looked up", op.name));
      return std::vector<std::string>(op.at.size(), "0");
    }
    if (packed && &op.at.back() - &at < 2) {
      // By blocks, and by rows of blocks.
      const std::int64_t columns = packed_columns(bits_of(tensor->dtype)), block = last ? columns : kPackedRows,
                         rows = last ? kRowsOfBlock : 1;
      bool whole = affine->constant % block == 0;
      for (std::int64_t& c : affine->coefficients) whole = whole && c % block == 0, c = c / block * rows;
      affine->constant = affine->constant / block * rows;
      if (!whole)
        refuse("coordinates", op, fmt::format("'{}' moves a part of a prepacked block of {} x {}", op.name, kPackedRows, columns));
    } else if (tensor && tensor->dtype == DType::I4 && last) {
      // Numbers of 4 bits are found by the byte.
      bool even = affine->constant % 2 == 0;
      for (std::int64_t& c : affine->coefficients) even = even && c % 2 == 0, c /= 2;
      affine->constant /= 2;
      if (!even) refuse("coordinates", op, fmt::format("'{}' reads numbers of 4 bits from the middle of a byte on", op.name));
    }
    std::int64_t& loop = affine->coefficients.back();
    const std::int64_t counted_from = from_end ? program_.trips : section_->loop ? section_->first : 0;
    const std::int64_t add = loop * (list == OpRef::List::Prologue ? 0 : body ? iteration - counted_from : program_.trips);
    if ((!section_->loop && !from_end) || !body) loop = 0;
    std::string text = affine_text(*affine, texts, add);
    if (computed) {
      std::vector<std::string> here = texts;
      here.back() = text.find(' ') == std::string::npos ? text : "(" + text + ")";
      const auto whole = index_text(at.root(), variables, here);
      if (!whole) refuse("coordinates", op, fmt::format("'{}' reads or writes at a place that cannot be computed: {}", op.name, at.text()));
      text = whole.value_or("0");
      if (is_in_parentheses(text)) text = text.substr(1, text.size() - 2);
      if (text.find("look_up(") != std::string::npos) {
        const std::string place = fmt::format("place{}", places_++);
        line("const int {} = {};", place, text);
        text = place;
      }
    }
    result.insert(result.begin(), text);
  }
  if (packed) result.insert(result.begin(), "0");
  return result;
}

std::vector<std::string> Writer::box_coordinates(const Step& step, const TileOp& op) {
  auto at = coordinates(step, op);
  if (step.round_to > 1) at[0] = fmt::format("({} & {})", in_parentheses(at[0]), -step.round_to);
  return at;
}

std::vector<std::string> Writer::relabelled_coordinates(const TileOp& op, const std::vector<std::string>& at) {
  if (at.size() < 2 || at.size() > 3) return at;  // map_of() has refused it
  const std::size_t rank = op.at.size();
  const auto [names, counts] = indices_of(kernel_, program_.params, program_.trips);
  const auto row = op.at[rank - 2].affine(program_.params, names);
  const bool whole = row && row->constant % 16 == 0 &&
                     std::all_of(row->coefficients.begin(), row->coefficients.end(), [](std::int64_t c) { return c % 16 == 0; });
  if (!whole)
    refuse("tensor_map", op, fmt::format("'{}' brings rows in another order, 16 by 16, and does not begin at a multiple of 16", op.name));
  const auto rows = kernel_.find_tensor(op.tensor)->shape[rank - 2].evaluate(program_.params);
  // Beyond a matrix lies the next one, where a map of whole matrices would give zeros.
  const auto [least, most] = row ? range_of(*row, counts) : std::pair<std::int64_t, std::int64_t>{};
  const TileValue* tile = op.outputs.empty() ? nullptr : kernel_.find_value(op.outputs[0]);
  const auto height = tile && tile->shape.size() == 2 ? tile->shape[0].evaluate(program_.params) : Result<std::int64_t>(16);
  if (whole && rows.ok() && height.ok() && (least < 0 || most + *height > *rows))
    refuse("tensor_map", op,
           fmt::format("'{}' brings rows in another order, 16 by 16, and reaches beyond the {} rows of a matrix", op.name, *rows));
  std::string block = fmt::format("{} / 16", in_parentheses(at[1]));
  if (at.size() > 2) block = fmt::format("{} * {} + {}", in_parentheses(at[2]), rows.ok() ? *rows / 16 : 0, block);
  return {at[0], "0", "0", "0", block};
}

std::string Writer::value_text(const Place& place) {
  const int unit = rounded_load(program_, place.value);
  const auto load = [&](const TileOp& op) { return !op.outputs.empty() && op.outputs[0] == kernel_.values[place.value].name; };
  const auto& body = kernel_.body;
  if (unit == 1) return slot_text(place);
  const auto in_body = std::find_if(body.begin(), body.end(), load);
  const bool looped = in_body != body.end();
  const TileOp& op = looped ? *in_body : *std::find_if(kernel_.prologue.begin(), kernel_.prologue.end(), load);
  const auto at = coordinates(looped ? OpRef::List::Body : OpRef::List::Prologue, place.iteration, op);
  return fmt::format("{} + ({} & {}) * {}", slot_text(place), in_parentheses(at[0]), unit - 1,
                     bits_of(kernel_.values[place.value].dtype) / 8);
}

std::string Writer::with_panel(const std::vector<std::string>& at, int offset) {
  std::string text;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (d > 0) text += ", ";
    text += at[d];
    if (d == 0 && offset > 0) text = text == "0" ? fmt::format("{}", offset) : fmt::format("{} + {}", text, offset);
  }
  return text;
}

void Writer::write_load(const Step& step) {
  const TileOp& op = op_of(kernel_, step.op);
  if (op.kind == "gather") return write_gather(step, op);
  if (op.kind != "tma_load")
    return refuse("load_kind", op, fmt::format("'{}' is a {}; loads by tma_load and gather can be written", op.name, op.kind));
  const auto panels = panels_of(step.output.value, op);
  if (!panels) return;
  if (program_.pair && is_leaders(step.barrier)) return write_pair_load(step, op, *panels);
  // Each block of a cluster brings a part to all of them: some panels, or some rows of every panel, whose swizzle begins anew every 8.
  const bool shared = program_.buffers[step.output.index].shared;
  const int blocks = shared ? program_.cluster : 1;
  const bool by_rows = panels->count % blocks != 0;
  if (by_rows && panels->rows % (8 * blocks) != 0)
    return refuse("cluster", op,
                  fmt::format("'{}' loads {} panels of {} columns and {} rows, which do not make equal parts for {} blocks", op.name,
                              panels->count, panels->width, panels->rows, blocks));
  Panels part = *panels;
  if (by_rows)
    part.rows /= blocks, part.bytes /= blocks;
  else
    part.count /= blocks;
  const std::size_t map = map_of(op, part);
  std::vector<std::string> at = box_coordinates(step, op);
  const std::string barrier = barrier_text(step.barrier, step.cursor);
  std::string to = slot_text(step.output), all;
  if (shared) {
    to += fmt::format(" + rank * {}", by_rows ? part.bytes : part.count * part.bytes);
    at[by_rows] = fmt::format("{} + rank * {}", at[by_rows], by_rows ? part.rows : part.count * part.width);
    all = fmt::format(", {}", (1 << blocks) - 1);
  }
  if (part.relabelled) at = relabelled_coordinates(op, at);
  line("arrive_expect({}, {});", barrier, program_.barriers[step.barrier].tx_bytes);
  for (int p = 0; p < part.count; ++p)
    line("tma_load{}({}{}, &map{}, {}, {}{});", shared ? "_all" : "", to, p > 0 ? fmt::format(" + {}", p * panels->bytes) : "", map,
         with_panel(at, p * part.width), barrier, all);
}

void Writer::write_store(const Step& step) {
  const TileOp& op = op_of(kernel_, step.op);
  const bool add = op.kind == "atomic_add";
  if ((op.kind != "tma_store" && !add) || step.inputs.at(0).kind != Place::Kind::Buffer)
    return refuse("store_kind", op,
                  fmt::format("'{}' is a {}; tma_store and atomic_add of tiles in shared memory can be written", op.name, op.kind));
  if (add && kernel_.values[step.inputs[0].value].dtype != DType::F32)
    return refuse("store_kind", op, fmt::format("'{}' adds something else than f32", op.name));
  const auto panels = panels_of(step.inputs.at(0).value, op);
  if (!panels) return;
  if (panels->count % step.piece.count != 0)
    return refuse("tile_shape", op,
                  fmt::format("'{}' stores {} pieces, and its tile lies in {} panels", op.name, step.piece.count, panels->count));
  const std::size_t map = map_of(op, *panels);
  const auto at = coordinates(step, op);
  if (!one_thread_) {
    raw("if (tid == 0) {");
    ++indent_;
  }
  const int count = panels->count / step.piece.count, first = step.piece.number * count;
  for (int p = 0; p < count; ++p)
    line("{}(&map{}, {}{}, {});", add ? "tma_add" : "tma_store", map, slot_text(step.inputs[0]),
         p > 0 ? fmt::format(" + {}", p * panels->bytes) : "", with_panel(at, (first + p) * panels->width));
  if (!one_thread_) {
    --indent_;
    raw("}");
  }
}

}  // namespace heddle::codegen
