#include "app/window/frame/folder_list.h"

#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "app/session/files.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/ops_table.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

struct FolderItem {
  std::string name;
  bool folder = false;
};

/// Folders first, then files of JSON, of lines of JSON, and Triton's; empty when it cannot be read.
std::vector<FolderItem> list_folder(const std::string& folder) {
  constexpr std::size_t kMost = 5000;
  std::vector<FolderItem> items;
  std::error_code error;
  for (fs::directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end && items.size() < kMost; it.increment(error)) {
    std::error_code ignored;
    const std::string name = it->path().filename().string();
    if (name.empty() || name[0] == '.') continue;
    const bool is_folder = it->is_directory(ignored);
    const std::string ending = it->path().extension().string();
    if (is_folder || ending == ".json" || ending == ".jsonl" || ending == ".journal" || ending == ".ttgir" || ending == ".log")
      items.push_back({name, is_folder});
  }
  std::sort(items.begin(), items.end(),
            [](const FolderItem& a, const FolderItem& b) { return a.folder != b.folder ? a.folder : a.name < b.name; });
  return items;
}

bool row_of(const std::string& name, const std::string& text, Color ink) {
  const RowArea row = pick_row(name.c_str(), false, px(25));
  const std::string shown = fitted_middle(fonts().body, text, row.max.x - row.min.x - px(16));
  paint_text(fonts().body, ImVec2(row.min.x + px(8), row.min.y + px(4)), ink, shown);
  if (row.hovered && shown != text) tooltip(text);
  return row.clicked;
}

int complete(ImGuiInputTextCallbackData* data) {
  const std::string typed(data->Buf, static_cast<std::size_t>(data->BufTextLen)), completed = completed_path(typed);
  if (completed.size() <= typed.size() || completed.size() + 1 > static_cast<std::size_t>(data->BufSize)) return 0;
  data->DeleteChars(0, data->BufTextLen);
  data->InsertChars(0, completed.c_str());
  return 0;
}

}  // namespace

std::optional<std::string> draw_folder_list(const char* prefix, std::string& folder, std::string_view filter) {
  {
    const FontScope scope(fonts().mono_small);
    colored_text(theme().dim, fitted_middle(fonts().mono_small, folder, ImGui::GetContentRegionAvail().x));
    if (ImGui::IsItemHovered()) tooltip(folder);
  }
  const std::string name = prefix;
  const fs::path here(folder);
  if (here.has_parent_path() && here.parent_path() != here && row_of(name + "/up", "..", theme().accent)) {
    folder = here.parent_path().string();
    return std::nullopt;
  }
  std::size_t count = 0;
  for (const FolderItem& item : list_folder(folder)) {
    if (!matches(item.name, filter)) continue;
    ++count;
    if (!row_of(name + "/file/" + item.name, item.name + (item.folder ? "/" : ""), item.folder ? theme().accent : theme().text)) continue;
    const std::string path = (here / item.name).string();
    if (!item.folder) return path;
    folder = path;
    return std::nullopt;
  }
  if (count == 0) colored_text(theme().faint, "no folders, .json, .jsonl, .journal, .ttgir or .log files here");
  return std::nullopt;
}

void draw_place_list(const char* prefix, char* path, std::size_t size, float height) {
  std::error_code ignored;
  const fs::path written(path);
  fs::path place = fs::absolute(written, ignored).parent_path().lexically_normal();
  // While a path is typed: the nearest folder that there is.
  while (!fs::is_directory(place, ignored) && place.has_parent_path() && place.parent_path() != place) place = place.parent_path();
  std::string folder = place.string();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(1)));
  ImGui::BeginChild(prefix, ImVec2(0, height));
  const auto file = draw_folder_list(prefix, folder, {});
  ImGui::EndChild();
  ImGui::PopStyleVar();
  if (file)
    std::snprintf(path, size, "%s", file->c_str());
  else if (folder != place.string())
    std::snprintf(path, size, "%s", (fs::path(folder) / written.filename()).string().c_str());
}

bool path_field(const char* name, const char* hint, char* path, std::size_t size) {
  const bool entered = ImGui::InputTextWithHint((std::string("##") + name).c_str(), hint, path, size,
                                                ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackCompletion, complete);
  if (probe::on()) probe::last_item(name);
  return entered;
}

}  // namespace heddle::app
