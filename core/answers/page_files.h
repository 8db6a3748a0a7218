// Styles and scripts of the pages that Heddle writes, which lie in assets/page: a page is one file, so it carries their texts.
#pragma once

#include <span>

#include "core/base/embedded_file.h"

namespace heddle {

std::span<const EmbeddedFile> page_files();

}  // namespace heddle
