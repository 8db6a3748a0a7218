// What appears over the window: the open dialog, the prompt for a path, the error panel and the list of keys.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "app/jobs/package_job.h"
#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/files.h"
#include "app/session/kernel_state.h"
#include "app/session/project.h"
#include "app/window/frame/folder_list.h"
#include "app/window/frame/panels.h"
#include "app/window/frame/project_dialogs.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/tabs/layout/layout_views_drawn.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

void copy_to(char* buffer, std::size_t size, const std::string& text) { std::snprintf(buffer, size, "%s", text.c_str()); }

void title(const std::string& text) { dialog_title(text); }

void draw_shelf(const char* heading, Shelf shelf, const char* prefix, UiState& ui) {
  bool any = false;
  for (const LibraryEntry& entry : list_library(shelf)) {
    if (!matches(entry.name, ui.open_dialog.filter)) continue;
    if (!any) section(heading);
    any = true;
    const std::string name = std::string(prefix) + entry.name;
    const RowArea row = pick_row(name.c_str(), false, px(25));
    const std::string shown = fitted_middle(fonts().body, entry.name, row.max.x - row.min.x - px(16));
    paint_text(fonts().body, ImVec2(row.min.x + px(8), row.min.y + px(4)), theme().text, shown);
    if (row.hovered && shown != entry.name) tooltip(entry.name);
    if (!row.clicked) continue;
    if (shelf == Shelf::Kernels) ui.commands.push(OpenKernel{entry.name, true});
    if (shelf == Shelf::Machines) ui.commands.push(OpenMachine{entry.name, true});
    if (shelf == Shelf::Schedules) ui.commands.push(OpenSchedule{entry.path});
    ImGui::CloseCurrentPopup();
  }
}

/// Why there is nothing to open under this path; empty: there is.
std::string why_no_file(const std::string& path) {
  std::error_code ignored;
  // A dump's name may say which loop is meant.
  return fs::is_regular_file(path, ignored) || fs::is_regular_file(path.substr(0, path.find('#')), ignored) ? "" : "There is no such file.";
}

}  // namespace

void draw_open_dialog(Session& session, UiState& ui) {
  OpenDialogState& dialog = ui.open_dialog;
  if (session.view().open_dialog) {
    session.requests().open_dialog = false;
    std::error_code ignored;
    if (dialog.folder.empty()) dialog.folder = fs::current_path(ignored).string();
    dialog.filter[0] = 0;  // what was typed as a path stays: it may have been almost right
    dialog.complaint.clear();
    dialog.just_opened = true;
    ImGui::OpenPopup("open");
  }
  if (!begin_modal("open", ImVec2(px(980), px(580)))) return;
  title("Open");
  wrapped_text(
      fonts().small, theme().dim,
      "Triton texts (.ttgir, or a folder or log of its compiler), projects, kernels, machines, schedules, constraints, and dumps of "
      "a compiler's scheduler (ddg, schedule_graph, joint-solver). Each file says what it is.");
  ImGui::Dummy(ImVec2(0, px(2)));
  if (dialog.just_opened) ImGui::SetKeyboardFocusHere();
  dialog.just_opened = false;
  // A path is a path in whichever field it is typed.
  const bool filter_is_path = std::strchr(dialog.filter, '/') != nullptr;
  input_field("open/filter", "filter, or a path", dialog.filter, sizeof dialog.filter, px(240));
  const bool path_in_filter = filter_is_path && ImGui::IsItemDeactivated() && key_pressed(Key::Enter);
  ImGui::SameLine();
  const float open_width = px(80), room = ImGui::GetContentRegionAvail().x - open_width - px(8);
  ImGui::SetNextItemWidth(room);
  const std::string before = dialog.path;
  const bool entered = path_field("open/path", "or type a path; Tab completes it", dialog.path, sizeof dialog.path);
  if (before != dialog.path) dialog.complaint.clear();
  ImGui::SameLine();
  const bool go =
      button("open/go", "Open", ButtonKind::Plain, dialog.path[0] || filter_is_path ? "" : "type a path first", {open_width, 0});
  if (path_in_filter || (go && filter_is_path && !dialog.path[0])) copy_to(dialog.path, sizeof dialog.path, dialog.filter);
  if (go || path_in_filter || (entered && dialog.path[0])) {
    dialog.complaint = why_no_file(dialog.path);
    if (dialog.complaint.empty()) {
      ui.commands.push(OpenFile{dialog.path, true});
      ImGui::CloseCurrentPopup();
    }
  }
  if (!dialog.complaint.empty()) colored_text(theme().bad, dialog.complaint);
  if (probe::on() && !dialog.complaint.empty()) probe::last_item("open/complaint");
  const float height = ImGui::GetContentRegionAvail().y - px(44), gap = px(16);
  // Names of hand schedules are the longest.
  const float whole = ImGui::GetContentRegionAvail().x - 2 * gap, narrow = std::floor(whole * 0.29f);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(1)));
  ImGui::BeginChild("kernels", ImVec2(narrow, height));
  draw_shelf("KERNELS", Shelf::Kernels, "open/kernel/", ui);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("machines", ImVec2(whole - 2 * narrow, height));
  draw_shelf("MACHINES", Shelf::Machines, "open/machine/", ui);
  draw_shelf("HAND SCHEDULES", Shelf::Schedules, "open/schedule/", ui);
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("files", ImVec2(narrow, height));
  section("FILES");
  if (const auto file = draw_folder_list("open", dialog.folder, dialog.filter)) {
    ui.commands.push(OpenFile{*file, true});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndChild();
  ImGui::PopStyleVar();
  ImGui::SetCursorPosX(ImGui::GetWindowSize().x - px(20) - px(90));
  ImGui::SetCursorPosY(ImGui::GetWindowSize().y - px(48));
  if (button("open/close", "Close", ButtonKind::Plain, {}, {px(90), px(32)}) || key_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

/// How what would be written is called, or why it cannot be.
std::string package_preview(const Session& session, Prompt ask) {
  const auto& text = session.kernel().text().answer();
  if (!text) return {};
  const auto made = make_package(*text, ask == Prompt::TorchPath ? codegen::PackageFormat::Torch : codegen::PackageFormat::Cuda, {});
  return made.ok() ? made->call : made.error().faults.front().message;
}

SavePackage save_package(const Session& session, const PathPromptState& prompt) {
  const bool torch = prompt.ask == Prompt::TorchPath;
  return {prompt.path, torch, package_command(session, torch, prompt.path)};
}

void draw_path_prompt(const Session& session, UiState& ui) {
  PathPromptState& prompt = ui.path_prompt;
  struct Facts {
    const char *title, *ending;
  };
  const Facts facts = prompt.ask == Prompt::ProjectPath       ? Facts{"Save the project", ".heddle.json"}
                      : prompt.ask == Prompt::ConstraintsPath ? Facts{"Save the constraints and changed numbers", ".constraints.json"}
                      : prompt.ask == Prompt::KernelPath      ? Facts{"Save the CUDA text", ".cu"}
                      : prompt.ask == Prompt::PackagePath     ? Facts{"Save as a CUDA package: a folder", ".package"}
                      : prompt.ask == Prompt::TorchPath       ? Facts{"Save as an operator of PyTorch: a folder", ".torch"}
                      : prompt.ask == Prompt::KernelTextPath  ? Facts{"Save the kernel", ".json"}
                      : prompt.ask == Prompt::MachineTextPath ? Facts{"Save the machine", ".json"}
                      : prompt.ask == Prompt::LayoutPath      ? Facts{"Save the layout: .svg, .png, .csv or .json", ".svg"}
                      : prompt.ask == Prompt::TtgirPath       ? Facts{"Write Triton's text with this schedule in it", ".best.ttgir"}
                      : prompt.ask == Prompt::SharePath       ? Facts{"Share: project, picture, trace and command", ".heddle.json"}
                                                              : Facts{"Save the schedule", ".schedule.json"};
  const bool project = prompt.ask == Prompt::ProjectPath || prompt.ask == Prompt::SharePath;
  const bool package = prompt.ask == Prompt::PackagePath || prompt.ask == Prompt::TorchPath;
  if (prompt.just_opened) {
    prompt.preview = package ? package_preview(session, prompt.ask) : std::string();
    const bool has_file = project && !session.projects().project_file().empty();
    const Content& content = session.content();
    const std::string stem = prompt.ask == Prompt::KernelTextPath         ? content.kernel->name
                             : prompt.ask == Prompt::MachineTextPath      ? content.machine->name
                             : prompt.ask == Prompt::TtgirPath || package ? content.kernel->name
                             : prompt.ask == Prompt::LayoutPath           ? layout_stem(ui.of<LayoutTabState>())
                                                                          : file_stem(session);
    copy_to(prompt.path, sizeof prompt.path, has_file ? session.projects().project_file() : stem + facts.ending);
    ImGui::OpenPopup("write");
  }
  if (!begin_modal("write", ImVec2(px(560), 0))) return;
  title(facts.title);
  std::error_code ignored;
  wrapped_text(fonts().small, theme().dim, "Relative to " + fs::current_path(ignored).string());
  if (prompt.ask == Prompt::SharePath)
    wrapped_text(fonts().small, theme().dim,
                 "Beside the project a PNG of the window and a Chrome trace are written, and the command that exports the same "
                 "schedule is copied.");
  if (!prompt.preview.empty()) wrapped_text(fonts().mono_small, theme().dim, prompt.preview);
  if (probe::on() && package) probe::last_item("write/preview");
  ImGui::Dummy(ImVec2(0, px(4)));
  if (prompt.just_opened) ImGui::SetKeyboardFocusHere();
  prompt.just_opened = false;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  const bool entered = path_field("write/path", "", prompt.path, sizeof prompt.path);
  draw_place_list("write/place", prompt.path, sizeof prompt.path, px(170));
  // The line is there in any case: buttons stay where they are while one types.
  colored_text(theme().warning, !fs::exists(prompt.path, ignored) ? " "
                                : package                         ? "This folder exists: of a package its files will be replaced."
                                                                  : "This file exists and will be replaced.");
  ImGui::Dummy(ImVec2(0, px(6)));
  const bool go = button("write/go", "Write", ButtonKind::Primary, prompt.path[0] ? "" : "type a path first", {px(100), px(32)});
  if ((go || entered) && prompt.path[0]) {
    switch (prompt.ask) {
      case Prompt::ProjectPath: ui.commands.push(SaveProject{prompt.path}); break;
      case Prompt::ConstraintsPath: ui.commands.push(SaveConstraints{prompt.path}); break;
      case Prompt::SharePath: share_as(ui, prompt.path); break;
      case Prompt::KernelPath: ui.commands.push(SaveKernel{prompt.path}); break;
      case Prompt::PackagePath:
      case Prompt::TorchPath: ui.commands.push(save_package(session, prompt)); break;
      case Prompt::KernelTextPath: ui.commands.push(SaveSource{SourceOf::Kernel, prompt.path}); break;
      case Prompt::TtgirPath: ui.commands.push(Export{ExportKind::Ttgir, prompt.path}); break;
      case Prompt::LayoutPath: ui.commands.push(save_layout(ui.of<LayoutTabState>(), prompt.path)); break;
      case Prompt::MachineTextPath: ui.commands.push(SaveSource{SourceOf::Machine, prompt.path}); break;
      case Prompt::SavePath: ui.commands.push(SaveSchedule{prompt.path}); break;
      case Prompt::Nothing: break;
    }
    ImGui::CloseCurrentPopup();
  }
  ImGui::SameLine();
  if (button("write/cancel", "Cancel", ButtonKind::Plain, {}, {px(100), px(32)}) || key_pressed(Key::Escape)) ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

void draw_error_panel(const Session& session, UiState& ui) {
  const std::optional<ErrorReport>& report = session.error();
  if (report && !ui.error_opened && !ImGui::IsPopupOpen("error")) {
    ImGui::OpenPopup("error");
    ui.error_opened = true;
  }
  const float faults = report ? static_cast<float>(report->error.faults.size()) : 1;
  if (!begin_modal("error", ImVec2(px(720), std::min(px(150) + px(70) * faults, px(420))))) {
    ui.error_opened = false;
    return;
  }
  if (!report) {
    ui.error_opened = false;
    ImGui::CloseCurrentPopup();
    ImGui::EndPopup();
    return;
  }
  title(report->title);
  const std::size_t count = report->error.faults.size();
  wrapped_text(fonts().small, theme().dim, count == 1 ? "One fault:" : fmt::format("{} faults, all of them:", count));
  ImGui::BeginChild("faults", ImVec2(0, ImGui::GetContentRegionAvail().y - px(46)));
  for (std::size_t i = 0; i < count; ++i) {
    const Fault& fault = report->error.faults[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Indent(px(14));
    std::string place = fault.file;
    if (!fault.pointer.empty()) place += (place.empty() ? "" : "  ") + fault.pointer;
    if (!place.empty()) wrapped_text(fonts().mono_small, theme().dim, place);
    wrapped_text(fonts().body, theme().text, fault.message);
    if (!fault.hint.empty()) wrapped_text(fonts().small, theme().accent, fault.hint);
    ImGui::Unindent(px(14));
    const float end = ImGui::GetItemRectMax().y;
    ImGui::GetWindowDrawList()->AddRectFilled(at, ImVec2(at.x + px(4), end), theme().bad, px(2));
    if (probe::on()) probe::item(fmt::format("error/fault/{}", i), at.x, at.y, at.x + ImGui::GetWindowSize().x, end);
    ImGui::Dummy(ImVec2(0, px(6)));
  }
  ImGui::EndChild();
  if (button("error/copy", "Copy", ButtonKind::Plain, {}, {px(90), px(32)}))
    ui.commands.push(copy_text(report->title + "\n" + to_string(report->error)));
  ImGui::SameLine();
  ImGui::SetCursorPosX(ImGui::GetWindowSize().x - px(20) - px(90));
  if (button("error/close", "Close", ButtonKind::Primary, {}, {px(90), px(32)}) || key_pressed(Key::Escape) || key_pressed(Key::Enter)) {
    ui.commands.push(DismissError{});
    ImGui::CloseCurrentPopup();
  }
  ImGui::EndPopup();
}

}  // namespace heddle::app
