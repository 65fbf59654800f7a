# cmake -DFOLDER=... -DOUT=... -P: the page of jtrace report as C++: report.html with report.css and report.js put in.
file(READ ${FOLDER}/report.html page)
file(READ ${FOLDER}/report.css style)
file(READ ${FOLDER}/report.js script)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
file(WRITE ${OUT} "#include \"trace/io/report_page.h\"\n\nnamespace jtrace::trace::io {\nstd::string_view report_page() {\n\
  static constexpr char kPage[] = R\"~~~~(${page})~~~~\";\n  return {kPage, sizeof kPage - 1};\n}\n}  // namespace jtrace::trace::io\n")
