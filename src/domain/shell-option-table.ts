/** The harmless options of ordinary programs that have others too: by those they run a program or write a file. [SH-54] */
import type { Harmless } from "./shell-options.ts";
import { plainTable } from "./shell-plain-table.ts";

const tar: Harmless = {
  // Not `I`, `F`, `P`, `T` (a list of files may hold options) and `a` (the name chooses the program).
  short: "cxtruvzjJZkphmwOolSnf@C@X@b:N:#",
  bundled: true,
  long: `create extract get list append update verbose gzip bzip2 xz zstd file=@ directory=@ exclude= exclude-from=@
    exclude-vcs keep-old-files no-same-owner no-same-permissions same-permissions preserve-permissions numeric-owner
    owner= group= mode= mtime= sort= strip-components= wildcards no-wildcards no-recursion one-file-system dereference
    totals version format= transform= xform= anchored`,
};
const curl: Harmless = {
  short: "sSfLkIiGvg46jNpa#OJo@H:X:d:u:A:e:b@c@D@F:T@m:z:r:x:C:U:",
  like: /^-#$/,
  long: `silent show-error fail fail-with-body fail-early location insecure head include get verbose globoff ipv4 ipv6
    no-buffer compressed output=@ header= request= data= data-raw= data-binary= data-urlencode= data-ascii= json= user=
    user-agent= referer= cookie=@ cookie-jar=@ dump-header=@ form= form-string= upload-file=@ max-time= time-cond=
    range= proxy= continue-at= connect-timeout= retry= retry-delay= retry-max-time= retry-all-errors retry-connrefused
    max-redirs= create-dirs output-dir=@ http1.1 http2 url= no-progress-meter progress-bar remote-name
    remote-name-all remote-header-name limit-rate= max-filesize= tlsv1.2 tlsv1.3 ssl-reqd parallel url-query=
    oauth2-bearer= basic path-as-is`,
};

export const optionTable: Readonly<Record<string, Harmless>> = {
  ...plainTable,
  tar,
  gtar: tar,
  bsdtar: tar,
  curl,
  rsync: {
    short: "avrlptgoDHAXxzncuRSPhqWdLkKOJmiyC",
    long: `archive verbose recursive links perms times group owner compress dry-run checksum update relative progress
      partial human-readable quiet exclude= include= stats itemize-changes size-only ignore-existing existing
      safe-links copy-links bwlimit= max-size= min-size= timeout= chmod= no-perms no-owner no-group inplace whole-file
      ignore-times mkpath info= numeric-ids`,
  },
  scp: { short: "rpqvCB463P:l:c:i@" },
  sort: {
    short: "bdfghinMRrVcCmsuzk:t:o@S:#",
    long: `ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort
      ignore-nonprinting month-sort numeric-sort random-sort reverse version-sort check?= merge key= field-separator=
      output=@ stable unique zero-terminated sort= buffer-size= parallel= debug batch-size=`,
  },
  split: {
    short: "a:b:C:dxl:n:eut:#",
    long: `suffix-length= bytes= line-bytes= lines= number= numeric-suffixes?= hex-suffixes?= verbose
      elide-empty-files unbuffered separator=`,
  },
  // Some of its options have two letters: `-lf` opens a log, `-TT` names a program.
  zip: { short: "rjqvyXDuog#x*", long: "recurse-paths junk-paths quiet verbose update" },
  wget: {
    short: "qvcNSkEmpHrO@o@P@a@T:t:U:l:A:R:D:X:I:w:Q:46",
    like: /^-n[vcdHp]+$/,
    long: `output-document=@ output-file=@ directory-prefix=@ append-output=@ quiet verbose no-verbose no-clobber
      continue timestamping spider timeout= tries= header= method= body-data= post-data= user-agent= referer= user=
      password= max-redirect= show-progress no-check-certificate level= recursive limit-rate= wait= no-parent accept=
      reject= domains= server-response https-only`,
  },
  date: {
    short: "uRd:I?r@",
    long: "utc universal date= iso-8601?= rfc-3339= rfc-email reference=@ debug",
  },
  diff: {
    short: "uwbBiEqsrNaydtTncepU:C:x:I:L:W:F:D:#",
    long: `unified?= context?= brief report-identical-files recursive new-file text ignore-case ignore-all-space
      ignore-space-change ignore-blank-lines ignore-trailing-space ignore-tab-expansion side-by-side width= color?=
      label= exclude= minimal speed-large-files strip-trailing-cr suppress-common-lines expand-tabs normal
      no-dereference unidirectional-new-file show-c-function ignore-matching-lines= from-file=@ to-file=@ left-column
      tabsize=`,
  },
  rg: {
    short: "niIlcovwxsSFNHLquaUbp.0hPA:B:C:e:f@g:t:T:m:M:r:E:j:d:",
    long: `ignore-case case-sensitive smart-case line-number no-line-number files-with-matches files-without-match
      count count-matches only-matching invert-match word-regexp line-regexp fixed-strings no-filename with-filename
      follow quiet unrestricted text pcre2 multiline multiline-dotall hidden no-ignore no-ignore-vcs glob= iglob= type=
      type-not= type-list type-add= after-context= before-context= context= regexp= file=@ max-count= max-columns=
      max-depth= max-filesize= replace= encoding= threads= color= colors= heading no-heading json files sort= sortr=
      stats trim vimgrep column no-config no-messages passthru null debug`,
  },
  fd: {
    short: "HIusgFalp0LSd:e:E:t:c:j:",
    long: `hidden no-ignore case-sensitive ignore-case glob fixed-strings absolute-path follow full-path print0
      max-depth= min-depth= exact-depth= extension= exclude= type= color= threads= max-results= size=
      changed-within= changed-before=`,
  },
  shuf: { short: "ezrn:i:", long: "echo zero-terminated repeat head-count= input-range=" },
  file: { short: "bikLhNrs0", long: "brief mime mime-type mime-encoding keep-going dereference no-dereference" },
  // `-L`, `-I` and `-P` take the next word and read on in their own: only alone are they plain.
  tree: {
    short: "adfilpsughDFrtCnvQNSAJX",
    like: /^-[LIP]$/,
    long: "dirsfirst noreport prune charset= filelimit= gitignore",
  },
  yq: { short: "rejPMCNo:p:I:n", long: "raw-output exit-status prettyPrint no-colors null-input indent=" },
};

/** What `find` does with what it finds that only tells; a predicate that takes a word takes one. */
export const findFlags = `-P -L -H -a -o -and -or -not -print -print0 -prune -quit -ls -depth -d -daystart -empty
  -executable -readable -writable -false -true -follow -help -mount -xdev -nogroup -nouser -noleaf -version -warn -nowarn
  -ignore_readdir_race -noignore_readdir_race`.split(/\s+/);
export const findValued = `-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype
  -maxdepth -mindepth -size -perm -user -group -uid -gid -links -inum -fstype -lname -ilname -samefile -newer -anewer
  -cnewer -mtime -atime -ctime -mmin -amin -cmin -used -printf -context`.split(/\s+/);
