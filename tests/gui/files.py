"""Small files as users send them."""

HOSTILE = "<img src=x onerror=document.title='owned'>"

#: Six films; the label names try to be markup, a formula and a path.
ARFF = f"""@relation films
@attribute minutes numeric
@attribute '<script>alert(1)</script>' {{yes,no}}
@attribute "{HOSTILE}" {{0,1}}
@attribute '=HYPERLINK(1)' {{0,1}}
@attribute '../../etc/passwd' {{0,1}}
@data
90,yes,1,0,0
150,no,1,1,0
120,yes,1,0,1
95,no,1,0,0
100,no,1,1,0
80,yes,1,0,0
"""
XML = (
    '<labels xmlns="http://mulan.sourceforge.net/labels">'
    "<label name=\"&lt;img src=x onerror=document.title='owned'&gt;\"/>"
    '<label name="=HYPERLINK(1)"/><label name="../../etc/passwd"/></labels>'
)
MEKA = """@relation 'photos: -C 3'
@attribute sky {0,1}
@attribute sea {0,1}
@attribute heron {0,1}
@attribute light numeric
@data
1,0,0,0.5
1,1,0,0.7
1,1,1,0.1
1,0,0,0.9
"""
CSV = "light,sky,sea,heron\n0.5,1,0,0\n0.7,1,1,0\n0.1,1,1,1\n0.9,1,0,0\n"
BROKEN = "@relation broken\n@attribute a numeric\n@attribute b {0,1}\n@data\n1,0\n2,maybe\n"
