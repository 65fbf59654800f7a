# cmake -DFOLDER=... -DOUT=... -P: the pages of jtrace report and jtrace heap as C++: report.html with report.css,
# parts.js and the page's own script put in.
file(READ ${FOLDER}/report.html frame)
file(READ ${FOLDER}/report.css style)
file(READ ${FOLDER}/parts.js parts)
set(pages "")
foreach(name report heap)
  file(READ ${FOLDER}/${name}.js script)
  string(REPLACE "@STYLE@" "${style}" page "${frame}")
  string(REPLACE "@SCRIPT@" "${parts}${script}" page "${page}")
  string(APPEND pages "std::string_view ${name}_page() {\n  static constexpr char kPage[] = R\"~~~~(${page})~~~~\";\n\
  return {kPage, sizeof kPage - 1};\n}\n")
endforeach()
file(WRITE ${OUT} "#include \"trace/io/report_page.h\"\n\nnamespace jtrace::trace::io {\n${pages}}  // namespace jtrace::trace::io\n")
