# Writes OUTPUT, C++ that holds the texts of FILES (MeshwrightTargets.cmake).
string(REPLACE "|" ";" files "${FILES}")
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(path ${file} ABSOLUTE BASE_DIR ${FOLDER})
  file(RELATIVE_PATH name ${FOLDER} ${path})
  if(name MATCHES "^[.][.]/")
    get_filename_component(name ${path} NAME)
  endif()
  file(READ ${path} text)
  string(APPEND entries "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
endforeach()
file(
  WRITE ${OUTPUT}
  "#include \"web/page_files.h\"

namespace meshwright::web {

std::span<const PageFile> ListPageFiles() {
  static constexpr PageFile kFiles[] = {
${entries}  };
  return kFiles;
}

}  // namespace meshwright::web
")
