;;; test.el --- What a person does in Emacs, one step after the other -*- lexical-binding: t -*-

;;; Commentary:

;; Ends with an error at the first step that fails.  There are no idle timers in batch mode: what they would do, sending what was
;; typed, is done by hand.

;;; Code:

(require 'cl-lib)
(require 'eglot)

(defconst patience 60)

(defmacro await (what &rest body)
  "Handle what comes until BODY is true, which WHAT describes."
  `(let ((deadline (time-add nil patience)))
     (while (not (progn ,@body))
       (when (time-less-p deadline nil)
         (error "This never came: %s\n%s\n%S" ,what (buffer-string) (flymake-diagnostics)))
       (accept-process-output nil 0.02))
     (princ (concat ,what "\n"))))

(defun typed ()
  "Tell the server what was typed, as an idle timer does."
  (eglot--signal-textDocument/didChange)
  (flymake-start))

(defun found ()
  "What is found in the buffer."
  (mapconcat #'flymake-diagnostic-text (flymake-diagnostics) "\n"))

(defun run-broker (input &rest arguments)
  "Run broker with ARGUMENTS and INPUT, as from another shell."
  (with-temp-buffer
    (insert input)
    (let ((status (apply #'call-process-region nil nil "broker" t t nil arguments)))
      (unless (eq status 0)
        (error "%S: %s" arguments (buffer-string)))
      (buffer-string))))

(defun branch-text (name path)
  "The text of the file PATH as the branch NAME has it, asked for by the editor's own session."
  (let* ((server (eglot-current-server))
         (command (list :command "broker.listBranches" :arguments (vector (make-hash-table))))
         (branches (jsonrpc-request server :workspace/executeCommand command))
         (branch (seq-find (lambda (it) (equal (plist-get it :name) name)) branches))
         (uri (format "broker-branch://%s/%s" (plist-get branch :id) path)))
    (plist-get (jsonrpc-request server :workspace/textDocumentContent (list :uri uri)) :text)))

(defun disk (path)
  "The text of the file PATH."
  (with-temp-buffer
    (insert-file-contents path)
    (buffer-string)))

;; A commit is an edit that the server asks for, without a question.
(setq eglot-confirm-server-initiated-edits nil
      eglot-autoshutdown t
      eglot-sync-connect patience
      eglot-connect-timeout patience
      last-nonmenu-event ?x)

(find-file "a.py")
(buffer-enable-undo)
(unless (memq 'eglot-ensure python-mode-hook)
  (error "The settings do not start it"))
;; What the hook has put off until the next command.
(run-hooks 'post-command-hook)
(await "the server is attached" (eglot-current-server))

(goto-char (point-min))
(undo-boundary)
(insert "import os\n\n")
(undo-boundary)
(typed)
(await "typing an error shows it" (string-match-p "F401" (found)))

(goto-char (+ (point-min) 7))
(cl-letf (((symbol-function 'completing-read)
           ;; The one that is offered first is the preferred one.
           (lambda (_prompt items &rest _) (if (consp (car items)) (caar items) (car items)))))
  (eglot-code-actions (point) (1+ (point)) "quickfix" t))
(typed)
(await "the code action's fix mends it"
       (and (equal (buffer-string) "\nx = 1\nprint(x)\n") (string-empty-p (found))))

(undo-boundary)
(let ((last-command nil)) (undo))
(typed)
(await "undo brings it back" (and (string-prefix-p "import os\n" (buffer-string)) (string-match-p "F401" (found))))

(erase-buffer)
(insert "x = 'é𐐀'\nprint(x)\nprint(y)\n")
(typed)
(await "places after wide characters are right"
       (let ((finding (car (flymake-diagnostics))))
         (and finding (equal (buffer-substring (flymake-diagnostic-beg finding) (flymake-diagnostic-end finding)) "y"))))

(erase-buffer)
(insert "x = 1\nprint(x)\n")
(save-buffer)
(typed)
(await "what is saved is clean" (string-empty-p (found)))

(run-broker "" "branch" "fork" "try")
(run-broker "x = 2\nprint(x)\n" "branch" "write" "try" "a.py")
(unless (equal (branch-text "try" "a.py") "x = 2\nprint(x)\n")
  (error "The file of the branch is %S" (branch-text "try" "a.py")))
(princ "a file of a branch is shown\n")

(with-current-buffer "a.py"
  (run-broker "" "branch" "discard" "try")
  (goto-char (point-max))
  (insert "y = 1\nprint(y)\n")
  (typed)
  (let ((unsaved (buffer-string)))
    (await "a branch starts from the unsaved text"
           (run-broker "" "branch" "fork" "next")
           (or (equal (run-broker "" "branch" "read" "next" "a.py") unsaved)
               (progn (run-broker "" "branch" "discard" "next") nil)))
    (run-broker (replace-regexp-in-string "y = 1" "y = 'é'" unsaved) "branch" "write" "next" "a.py"))
  (run-broker "" "branch" "commit" "next")
  (await "a commit of a branch lands in the open buffer" (equal (buffer-string) "x = 1\nprint(x)\ny = 'é'\nprint(y)\n"))
  (unless (equal (disk "a.py") "x = 1\nprint(x)\n")
    (error "The disk is written behind the editor's back"))
  (save-buffer)
  (await "the branch lets go of what is saved" (equal (run-broker "" "branch" "diff" "next") ""))
  (let ((process (jsonrpc--process (eglot-current-server))))
    (eglot-shutdown (eglot-current-server))
    (await "the server ends" (not (process-live-p process)))))

;;; test.el ends here
