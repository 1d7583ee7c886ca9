// The files that Meshwright's pages are made of, held by the program itself.
//
// Concept: pages are plain HTML, CSS and JavaScript in this folder, which the
// build embeds (meshwright_embed). A page is thus served, or written as one
// file, without files beside the program and without a network. Charts are
// drawn by D3, whose file comes from its Debian package: "d3.min.js".
// Threads: constants.
#ifndef MESHWRIGHT_WEB_PAGE_FILES_H_
#define MESHWRIGHT_WEB_PAGE_FILES_H_

#include <span>
#include <string_view>

namespace meshwright::web {

struct PageFile {
  std::string_view name;  // "style.css", "report/page.html"
  std::string_view text;
};

std::span<const PageFile> ListPageFiles();

// Ends the program for a name that no file has.
std::string_view GetPageFile(std::string_view name);

}  // namespace meshwright::web

#endif  // MESHWRIGHT_WEB_PAGE_FILES_H_
