#include "web/page_files.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace meshwright::web {

std::string_view GetPageFile(std::string_view name) {
  const std::span<const PageFile> files = ListPageFiles();
  const auto found = std::ranges::find(files, name, &PageFile::name);
  if (found == files.end()) {
    std::fprintf(stderr, "no page has a file %.*s\n",
                 static_cast<int>(name.size()), name.data());
    std::abort();
  }
  return found->text;
}

}  // namespace meshwright::web
