from doccluster.report import plots as plots
from doccluster.report.html import write_report as write_report
from doccluster.results.views import InlineReport as InlineReport
