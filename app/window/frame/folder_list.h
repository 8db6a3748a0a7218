// The folders and files of one folder as rows: of the dialogs that open, save and export.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heddle::app {

/// Draws its path, the way up, and its folders and files that match the filter, into what is left of the current window. A click on a
/// folder goes there; returns the path of a file that was clicked. The probe knows rows as PREFIX + "/file/NAME".
std::optional<std::string> draw_folder_list(const char* prefix, std::string& folder, std::string_view filter);

/// The same beside a field for a path to write to: a folder or file that is clicked goes into the field.
void draw_place_list(const char* prefix, char* path, std::size_t size, float height);

/// A field for a path, where Tab completes what is typed; true when Enter was pressed. The width is that of the next item.
bool path_field(const char* name, const char* hint, char* path, std::size_t size);

}  // namespace heddle::app
