# cmake -DFOLDER=... -DPARTS=... -DOUT=... -P: the page of a bundle as C++. Frame, style and helpers (elements, tables) are those
# of the page of jtrace report in PARTS, so that all pages look and behave the same.
file(READ ${PARTS}/report.html page)
string(REPLACE "<title>jtrace report</title>" "<title>jtrace diagnose</title>" page "${page}")
file(READ ${PARTS}/report.css style)
file(READ ${FOLDER}/diagnosis.css own_style)
file(READ ${PARTS}/parts.js helpers)
file(READ ${FOLDER}/diagnosis.js script)
string(REPLACE "@STYLE@" "${style}${own_style}" page "${page}")
string(REPLACE "@SCRIPT@" "${helpers}${script}" page "${page}")
file(WRITE ${OUT} "#include \"diagnose/bundle_page.h\"\n\nnamespace jtrace::diagnose {\nstd::string_view page_frame() {\n\
  static constexpr char kPage[] = R\"~~~~(${page})~~~~\";\n  return {kPage, sizeof kPage - 1};\n}\n}  // namespace jtrace::diagnose\n")
