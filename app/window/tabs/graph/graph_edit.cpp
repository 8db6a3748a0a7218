#include "app/window/tabs/graph/graph_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "app/session/commands.h"
#include "app/session/texts.h"
#include "app/window/kit/choice_list.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/formats/kernel_json.h"
#include "core/kernel/edit.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/switches.h"

namespace heddle::app {
namespace {

struct GraphEditState {
  std::string op;     ///< the one in the form
  OpId seen;          ///< selection that has been followed
  std::string known;  ///< text that the fields were filled from
  char name[128] = "", shape[256] = "";
  std::string complaint;
};

std::string operand_text(const Operand& operand) {
  return operand.distance == 0 ? operand.value : fmt::format("{}[-{}]", operand.value, operand.distance);
}

std::string shape_text(const TileValue& value) {
  std::string text;
  for (const Expr& extent : value.shape) text += (text.empty() ? "" : ", ") + extent.text();
  return text;
}

/// A change of the kernel, as one of its text.
void change(const Session& session, UiState& ui, const std::string& what, const std::function<void(Kernel&)>& edit) {
  Kernel kernel = as_in_file(*session.content().kernel);
  edit(kernel);
  ui.commands.push(EditSource{SourceOf::Kernel, kernel_text(kernel, session.texts().text_of(SourceOf::Kernel)->text), false, what});
}

void field_name(const char* text) {
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, text);
  ImGui::SameLine(px(62));
}

/// A list to choose from; `about` says of each word what it means. The chosen one, when it is another.
std::optional<std::string> choose_word(const std::string& name, const std::string& current, const std::vector<std::string>& words,
                                       float width, const std::function<std::string(const std::string&)>& about = {}) {
  std::vector<ChoiceRow> rows;
  for (const std::string& word : words) rows.push_back({word, word, about ? about(word) : std::string(), word == current, true});
  const std::optional<std::size_t> chosen = choose(name, name + "/", current, rows, width);
  return chosen ? std::optional(words[*chosen]) : std::nullopt;
}

std::vector<std::string> all_ops(const Kernel& kernel) {
  std::vector<std::string> names;
  for (const OpList list : {OpList::Prologue, OpList::Body, OpList::Epilogue})
    for (const TileOp& op : ops_of(kernel, list)) names.push_back(op.name);
  return names;
}

std::vector<std::string> all_kinds() {
  std::vector<std::string> names;
  for (const OpKind& kind : op_kinds()) names.emplace_back(kind.name);
  return names;
}

std::string about_kind(const std::string& kind) { return find_op_kind(kind) ? find_op_kind(kind)->about : ""; }

/// A field whose text takes effect with Enter, or when it is left.
bool field(const char* name, char* text, std::size_t size, float width) {
  ImGui::SetNextItemWidth(width);
  ImGui::PushID(name);
  ImGui::InputText("##field", text, size);
  ImGui::PopID();
  if (probe::on()) probe::last_item(name);
  return ImGui::IsItemDeactivatedAfterEdit();
}

void draw_operands(const Session& session, UiState& ui, const TileOp& op, OpPlace place, float width) {
  const Kernel& kernel = as_in_file(*session.content().kernel);
  std::vector<std::string> words;
  const std::vector<Operand> possible = operands_for(kernel, place);
  for (const Operand& operand : possible) words.push_back(operand_text(operand));
  const auto operand_named = [&](const std::string& word) {
    return possible[static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin())];
  };
  const float remove = px(24);
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    field_name(i == 0 ? "reads" : "");
    const std::string name = fmt::format("graph/edit/in/{}", i);
    if (const auto word = choose_word(name, operand_text(op.inputs[i]), words, width - remove - px(4)))
      change(session, ui, fmt::format("{} reads {}", op.name, *word),
             [&](Kernel& k) { ops_of(k, place.list)[place.index].inputs[i] = operand_named(*word); });
    ImGui::SameLine(0, px(4));
    if (button((name + "/remove").c_str(), "\xc3\x97", ButtonKind::Flat, {}, {remove, px(24)}))
      change(session, ui, fmt::format("{} reads {} no longer", op.name, operand_text(op.inputs[i])), [&](Kernel& k) {
        auto& inputs = ops_of(k, place.list)[place.index].inputs;
        inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
      });
  }
  const OpKind* kind = find_op_kind(op.kind);
  if (!kind || static_cast<int>(op.inputs.size()) >= kind->max_inputs || words.empty()) return;
  field_name(op.inputs.empty() ? "reads" : "");
  if (const auto word = choose_word("graph/edit/in/more", "one more ...", words, width))
    change(session, ui, fmt::format("{} reads {} too", op.name, *word),
           [&](Kernel& k) { ops_of(k, place.list)[place.index].inputs.push_back(operand_named(*word)); });
}

void draw_result(const Session& session, UiState& ui, const TileOp& op, GraphEditState& s, float width) {
  const Kernel& kernel = as_in_file(*session.content().kernel);
  const TileValue* value = op.outputs.empty() ? nullptr : kernel.find_value(op.outputs.front());
  if (!value) return;
  const auto with_value = [&](const std::string& what, const std::function<void(TileValue&)>& edit) {
    change(session, ui, what, [&](Kernel& k) {
      for (TileValue& v : k.values)
        if (v.name == value->name) edit(v);
    });
  };
  field_name("result");
  colored_text(theme().text, fitted_middle(fonts().body, value->name, width));
  field_name("type");
  if (const auto word = choose_word("graph/edit/dtype", to_string(value->dtype), {"f32", "bf16", "f16", "f8e4m3", "f8e5m2", "i32"}, width))
    with_value(value->name + " is " + *word, [&](TileValue& v) { v.dtype = *parse_dtype(*word); });
  field_name("shape");
  if (field("graph/edit/shape", s.shape, sizeof s.shape, width)) {
    std::vector<Expr> shape;
    s.complaint.clear();
    std::string_view left = s.shape;
    while (!left.empty()) {
      // A comma inside brackets belongs to a function.
      int depth = 0;
      std::size_t end = 0;
      for (; end < left.size() && (left[end] != ',' || depth > 0); ++end) depth += left[end] == '(' ? 1 : left[end] == ')' ? -1 : 0;
      std::string_view part = left.substr(0, end);
      part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
      const auto extent = Expr::parse(part);
      if (extent)
        shape.push_back(*extent);
      else
        s.complaint = extent.error().faults.front().message;
      left.remove_prefix(std::min(end + 1, left.size()));
    }
    if (s.complaint.empty()) with_value(value->name + " has another shape", [&](TileValue& v) { v.shape = shape; });
  }
  if (!s.complaint.empty()) wrapped_text(fonts().small, theme().bad, s.complaint);
  field_name("space");
  if (const auto word = choose_word("graph/edit/space", to_string(value->space), {"register", "smem", "tmem"}, width))
    with_value(value->name + " lies in " + *word, [&](TileValue& v) { v.space = *parse_space(*word); });
}

}  // namespace

std::string why_no_graph_edit(const Session& session) {
  if (std::string reason = session.texts().why_no_edit(SourceOf::Kernel); !reason.empty()) return reason;
  return session.texts().text_of(SourceOf::Kernel)->faults.empty() ? "" : "the text has faults: correct them first (Ctrl+K), or undo";
}

void draw_graph_edit(const Session& session, UiState& ui) {
  GraphEditState& s = ui.of<GraphEditState>();
  section("EDIT");
  if (const std::string reason = why_no_graph_edit(session); !reason.empty()) return wrapped_text(fonts().small, theme().dim, reason);
  const Kernel& kernel = as_in_file(*session.content().kernel);
  const OpId selected = session.selection().primary();
  if (selected != s.seen) {
    s.seen = selected;
    if (selected.valid()) s.op = session.content().problem->op(selected).name;
  }
  std::optional<OpPlace> place = find_place(kernel, s.op);
  if (!place) {
    const std::vector<std::string> names = all_ops(kernel);
    if (names.empty()) return;
    s.op = kernel.body.empty() ? names.front() : kernel.body.front().name;
    place = find_place(kernel, s.op);
  }
  const TileOp& op = ops_of(kernel, place->list)[place->index];
  const std::string known = s.op + "\n" + session.texts().text_of(SourceOf::Kernel)->text;
  if (s.known != known) {
    s.known = known;
    s.complaint.clear();
    std::snprintf(s.name, sizeof s.name, "%s", op.name.c_str());
    const TileValue* value = op.outputs.empty() ? nullptr : kernel.find_value(op.outputs.front());
    std::snprintf(s.shape, sizeof s.shape, "%s", value ? shape_text(*value).c_str() : "");
  }
  const float width = std::max(ImGui::GetContentRegionAvail().x - px(62), px(60));
  const auto show = [&](const std::string& name) {
    s.op = name;
    if (const OpId id = session.content().problem->find_op(name); id.valid()) ui.commands.push(SelectOp{id});
  };
  field_name("op");
  if (const auto word = choose_word("graph/edit/op", op.name, all_ops(kernel), width, [&](const std::string& name) {
        const auto at = find_place(kernel, name);
        return at->list == OpList::Body ? "in the loop" : at->list == OpList::Prologue ? "once, before the loop" : "once, after the loop";
      }))
    show(*word);
  field_name("");
  if (const auto word = choose_word("graph/edit/insert", "add behind it ...", all_kinds(), width - px(78), about_kind)) {
    std::string name;
    change(session, ui, fmt::format("add {} behind {}", *word, op.name), [&](Kernel& k) { name = insert_op_behind(k, *place, *word); });
    s.op = name;
  }
  ImGui::SameLine(0, px(4));
  if (button("graph/edit/remove", "Remove", ButtonKind::Plain, {}, {px(74), px(26)}))
    change(session, ui, "remove " + op.name, [&](Kernel& k) { remove_op(k, *place); });
  field_name("name");
  if (field("graph/edit/name", s.name, sizeof s.name, width) && op.name != s.name && s.name[0]) {
    change(session, ui, fmt::format("{} is called {}", op.name, s.name), [&](Kernel& k) { rename_op(k, *place, s.name); });
    s.op = s.name;
  }
  field_name("kind");
  if (const auto word = choose_word("graph/edit/kind", op.kind, all_kinds(), width, about_kind))
    change(session, ui, fmt::format("{} is {}", op.name, *word), [&](Kernel& k) { set_kind(k, *place, *word); });
  if (const auto* fn = op.attr<std::string>("fn"); fn && op.kind == "elementwise") {
    std::vector<std::string> names;
    for (const ElementwiseFunction& f : elementwise_functions()) names.emplace_back(f.name);
    field_name("function");
    const auto about = [](const std::string& name) {
      for (const ElementwiseFunction& f : elementwise_functions())
        if (name == f.name) return std::string(f.about);
      return std::string();
    };
    if (const auto word = choose_word("graph/edit/fn", *fn, names, width, about))
      change(session, ui, fmt::format("{} is {}", op.name, *word),
             [&](Kernel& k) { ops_of(k, place->list)[place->index].attrs["fn"] = *word; });
  }
  if (const OpKind* kind = find_op_kind(op.kind); kind && (kind->reads_tensor || kind->writes_tensor)) {
    std::vector<std::string> names;
    for (const Tensor& tensor : kernel.tensors) names.push_back(tensor.name);
    field_name("tensor");
    if (const auto word = choose_word("graph/edit/tensor", op.tensor, names, width))
      change(session, ui, fmt::format("{} is of {}", op.name, *word), [&](Kernel& k) {
        TileOp& edited = ops_of(k, place->list)[place->index];
        edited.tensor = *word;
        edited.at.resize(k.find_tensor(*word)->shape.size(), Expr(0));
      });
  }
  draw_operands(session, ui, op, *place, width);
  draw_result(session, ui, op, s, width);
}

}  // namespace heddle::app
